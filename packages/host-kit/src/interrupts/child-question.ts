import type { AskedQuestion } from '../ports/interrupts.ts';
import type { ParentRun, Run } from '../ports/runs.ts';

/** The question with which a run waits for the end of its child. The host answers it, and no caller. */
export function childQuestion(
  { tenant, runId }: Pick<Run, 'tenant' | 'runId'>,
  { nodeId }: Pick<ParentRun, 'nodeId'>,
): AskedQuestion {
  // The id in the form of major 2, because clients of both majors read it and the form of major 1 is its last part.
  const data = { eventType: CHILD_ENDED, correlation: { runId: `${tenant}/${runId}` } };
  return { nodeId, key: childKey(runId), kind: 'external-event', data };
}

/** The key of the question with which a run waits for a child. */
export function childKey(runId: string): string {
  return `child:${runId}`;
}

/** The event that a run waits for. */
const CHILD_ENDED = 'child-run.ended';
