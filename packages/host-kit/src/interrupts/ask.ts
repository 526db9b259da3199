import { mintId } from '@svc/versioning/ids';
import type { HostPorts } from '../ports/host-ports.ts';
import type { AskedQuestion, Interrupt, InterruptAnswer, InterruptStore } from '../ports/interrupts.ts';
import type { OpenRun } from '../runs/event-log.ts';
import { interruptAnswerOf } from './answer.ts';
import { nextTimer } from './approvers.ts';
import { askedEvents } from './interrupt-events.ts';

export interface AskOptions extends Pick<HostPorts, 'clock' | 'random'> {
  readonly interrupts: InterruptStore;
}

/**
 * Asks a question of a run, which waits from then on. If the run asked under the same key before and has an answer,
 * returns that instead.
 *
 * @returns the answer; undefined while there is none
 */
export async function ask(
  { interrupts, clock, random }: AskOptions,
  open: OpenRun,
  request: AskedQuestion,
): Promise<InterruptAnswer | undefined> {
  const { run, transaction } = open;
  const asked = await interrupts.byKey(run.runId, request.nodeId, request.key, transaction);
  if (asked?.resolution !== undefined) return interruptAnswerOf(asked.resolution);
  const interrupt = asked ?? newInterrupt(run.runId, request, { clock, random });
  if (asked === undefined) await interrupts.insert(interrupt, transaction);
  await open.append(...askedEvents(interrupt));
  return undefined;
}

function newInterrupt(
  runId: string,
  request: AskedQuestion,
  { clock, random }: Omit<AskOptions, 'interrupts'>,
): Interrupt {
  const requestedAt = clock.now();
  const asked = { ...request, runId, interruptId: mintId('int', clock.now, random), requestedAt };
  const dueAt = nextTimer(asked, requestedAt);
  return { ...asked, status: 'pending', ...(dueAt !== undefined && { dueAt }), votes: [] };
}
