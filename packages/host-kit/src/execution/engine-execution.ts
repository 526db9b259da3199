import { mintId } from '@svc/versioning/ids';
import { held } from '../events/gate.ts';
import { ask } from '../interrupts/ask.ts';
import { checkedRequest } from '../interrupts/request.ts';
import type { Artifact, NewArtifact } from '../ports/artifacts.ts';
import type { Execution, NewEvent, WorkflowEngine } from '../ports/engine.ts';
import type { RunEvent } from '../ports/events.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { InterruptAnswer, InterruptRequest } from '../ports/interrupts.ts';
import type { Run } from '../ports/runs.ts';
import { artifactEvent } from '../runs/host-events.ts';
import type { DrivenRun } from './driven-run.ts';
import { engineGate } from './engine-events.ts';
import type { PauseAtRest } from './pause-at-rest.ts';
import type { Replay } from './replay.ts';
import { wholeLog } from './whole-log.ts';

export interface EngineExecutionParts extends Pick<HostPorts, 'store' | 'clock' | 'random'> {
  readonly engine: Pick<WorkflowEngine, 'events' | 'interrupts'>;
  readonly driven: DrivenRun;
  readonly pauseAtRest: PauseAtRest;
  /** Undefined for a run that is no replay. */
  readonly replay: Replay | undefined;
}

/** Makes the `Execution` that the engine is handed for one turn. Engines destructure it, so no method uses `this`. */
export function engineExecution(parts: EngineExecutionParts): Execution {
  const { engine, driven, pauseAtRest, replay, store } = parts;
  const gate = engineGate(engine);
  return {
    ...(replay !== undefined && {
      replayed: (nodeId) => replay.node(nodeId).catch((error: unknown) => driven.leaveUnread(error)),
    }),
    history: () => readable(driven, wholeLog(store, driven.run)),
    append: async (...added) => append(driven, added.map(gate)),
    interrupt: (request) => interrupt(parts, request),
    artifact: (artifact) => makeArtifact(parts, artifact),
    async until(time) {
      // A replay repeats the outcomes of its source, not the waiting.
      if (replay === undefined) await pauseAtRest.until(time);
    },
    signal: driven.signal,
  };
}

/** Reads a log for the engine. A read that fails is the store's fault, so it leaves the run instead of failing it. */
async function* readable(driven: DrivenRun, log: AsyncIterable<RunEvent>): AsyncGenerator<RunEvent, undefined> {
  try {
    yield* log;
  } catch (error) {
    driven.leaveUnread(error);
  }
}

async function append(driven: DrivenRun, added: readonly NewEvent[]): Promise<readonly RunEvent[]> {
  if (!driven.mayRecord()) throw driven.left;
  const recorded = await driven.step(async (open) => (isDriven(open.run) ? await open.append(...added) : []));
  if (recorded.length < added.length) throw driven.left;
  return recorded;
}

async function interrupt(parts: EngineExecutionParts, request: InterruptRequest): Promise<InterruptAnswer> {
  const { engine, driven, replay, store, clock, random } = parts;
  const asked = checkedRequest(request);
  requireDeclared(engine, asked);
  if (driven.left !== undefined) throw driven.left;
  const answer = await driven.change(async (open) => {
    if (open.run.status !== 'running') return undefined;
    if (replay !== undefined) return (await replay.answer(open, asked)) ?? UNANSWERED;
    return await ask({ interrupts: store.interrupts, clock, random }, open, asked);
  });
  // The run waits now. The turn that follows the answer asks again and gets it.
  if (answer === undefined) throw driven.left;
  if (answer === UNANSWERED) {
    throw new Error('The source run has no answer to this question, so the replay cannot go on.');
  }
  return answer;
}

const UNANSWERED = Symbol('unanswered');

/** A subscription to the events of a kind that the engine does not declare is refused. */
function requireDeclared({ interrupts }: Pick<WorkflowEngine, 'interrupts'>, { kind }: InterruptRequest): void {
  if (interrupts === undefined || interrupts.includes(kind)) return;
  throw new TypeError(`interrupt: kind ${kind} is not in interrupts of the engine. Add it there.`);
}

async function makeArtifact(parts: EngineExecutionParts, { summary, ...made }: NewArtifact): Promise<Artifact> {
  const { driven, store, clock, random } = parts;
  if (!driven.mayRecord()) throw driven.left;
  const createdAt = clock.now();
  const artifactId = mintId('art', clock.now, random);
  const artifact: Artifact = { ...made, runId: driven.run.runId, artifactId, createdAt };
  const created = held(artifactEvent(artifact, summary));
  const isMade = await driven.change(async (open) => {
    if (!isDriven(open.run)) return false;
    await store.artifacts.insert(artifact, open.transaction);
    await open.append(created);
    return true;
  });
  if (!isMade) throw driven.left;
  return artifact;
}

/**
 * Whether a run records events of its engine. A cancelled one does until it has ended, so that nodes can report their
 * end.
 */
function isDriven({ status }: Run): boolean {
  return status === 'running' || status === 'cancelling';
}
