/**
 * Refuses what the kit records itself, because a run's status depends on it.
 *
 * @throws {TypeError}
 */
export function refuseReserved(type: string): void {
  if (!RESERVED.some((prefix) => type.startsWith(prefix))) return;
  throw new TypeError(
    `${type} is recorded by the kit: return an outcome to end a run, and ask by execution.interrupt to let it wait.`,
  );
}

const RESERVED = ['run.', 'interrupt.', 'approval.', 'clarification.', 'node.suspended', 'node.resumed'];
