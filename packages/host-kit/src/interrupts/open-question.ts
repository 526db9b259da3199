import type { Interrupt } from '../ports/interrupts.ts';
import { isWaiting, type Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';

/**
 * Returns the question that a run waits for: the newest one of its current node. Undefined when the run does not wait,
 * or when the question was answered meanwhile.
 */
export async function openQuestion(
  { interrupts, transaction }: Pick<Store, 'interrupts' | 'transaction'>,
  { runId, status, currentNodeId }: Run,
): Promise<Interrupt | undefined> {
  if (!isWaiting(status) || currentNodeId === undefined) return undefined;
  const found = await transaction((open) => interrupts.ofNode(runId, currentNodeId, open));
  return found?.status === 'pending' ? found : undefined;
}
