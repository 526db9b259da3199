/**
 * Rejects an event that the kit records itself, because the status of the run depends on it.
 *
 * @throws {TypeError} when an engine may not append the type
 */
export function refuseReserved(type: string): void {
  if (!RESERVED.some((prefix) => type.startsWith(prefix))) return;
  throw new TypeError(
    `${type}: is recorded by the kit. Return an outcome to end a run; call execution.interrupt to let it wait.`,
  );
}

const RESERVED = ['run.', 'interrupt.', 'approval.', 'clarification.', 'node.suspended', 'node.resumed'];
