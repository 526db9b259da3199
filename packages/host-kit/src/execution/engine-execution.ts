import { mintId } from '@svc/versioning/ids';
import { asJson } from '../as-json.ts';
import type { RecordAudit } from '../audit/fact.ts';
import { held } from '../events/gate.ts';
import { ask } from '../interrupts/ask.ts';
import { checkedRequest } from '../interrupts/request.ts';
import type { ApproverDirectory } from '../ports/approvers.ts';
import type { Artifact, NewArtifact } from '../ports/artifacts.ts';
import type { Execution, NewEvent, VersionedEngine, WorkflowEngine } from '../ports/engine.ts';
import type { RunEvent } from '../ports/events.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { AskedQuestion, InterruptAnswer, InterruptRequest } from '../ports/interrupts.ts';
import type { Run } from '../ports/runs.ts';
import type { OpenRun } from '../runs/event-log.ts';
import { artifactEvent, endedEvent } from '../runs/host-events.ts';
import type { RunDraft } from '../runs/run-draft.ts';
import type { SecretBox } from '../sealing/secret-box.ts';
import type { WorkspaceFileLimits } from '../workspace/files.ts';
import { type ChildRunsParts, childRuns } from './child-runs.ts';
import { configurableOf } from './configurable.ts';
import type { DrivenRun } from './driven-run.ts';
import { engineGate } from './engine-events.ts';
import { type Breach, clarificationsOf, NodeLimits, type RunLimits, tooManyClarifications } from './limits.ts';
import type { PauseAtRest } from './pause-at-rest.ts';
import type { Replay } from './replay.ts';
import { runEffects } from './run-effects.ts';
import { type GuardedCall, runFetch } from './run-fetch.ts';
import { runFiles } from './run-files.ts';
import type { RunSecrets } from './run-secrets.ts';
import { wholeLog } from './whole-log.ts';

/** The parts of a host that runs reach, and the limits of runs. */
export interface RunReach {
  readonly limits: RunLimits;
  readonly secrets: SecretBox;
  readonly recordAudit: RecordAudit;
  /** Undefined: the host serves no workspace files. */
  readonly workspaceFiles: WorkspaceFileLimits | undefined;
  readonly fetch: GuardedCall;
  /** Resolves groups and roles of approvers. Undefined: the host has no directory of them. */
  readonly approvers?: ApproverDirectory | undefined;
}

export interface EngineExecutionParts extends Pick<HostPorts, 'store' | 'clock' | 'random'> {
  readonly reach: RunReach;
  readonly secrets: RunSecrets;
  readonly engine: Pick<
    VersionedEngine,
    'configurable' | 'events' | 'interrupts' | 'version' | 'accepts' | 'compensation'
  >;
  readonly driven: DrivenRun;
  readonly pauseAtRest: PauseAtRest;
  /** Undefined for a run that is no replay. */
  readonly replay: Replay | undefined;
  readonly families: ChildRunsParts['families'];
  /** Drives a new child of the run. */
  readonly drive: (child: Run) => void;
  /** Makes a call for the engine, which may not await it, and notes one that fails. */
  readonly noted: <T>(call: () => Promise<T>) => Promise<T>;
}

/** Makes the `Execution` that the engine is handed for one turn. Engines destructure it, so no method uses `this`. */
export function engineExecution(parts: EngineExecutionParts): Execution {
  const { engine, driven, pauseAtRest, replay, store, reach, secrets, noted } = parts;
  const gate = engineGate(engine);
  const { redactor } = secrets;
  const limits = new NodeLimits(store, driven.run, reach.limits);
  const isReplay = replay !== undefined;
  return {
    ...(replay !== undefined && {
      replayed: (nodeId) => replay.node(nodeId).catch((error: unknown) => driven.leaveUnread(error)),
    }),
    history: () => readable(driven, wholeLog(store, driven.run)),
    append: (...added) => noted(() => append(parts, limits, redactor.redacted(added).map(gate))),
    interrupt: (request) => noted(() => interrupt(parts, asJson('interrupt: request', redactor.redacted(request)))),
    artifact: (made) => noted(() => makeArtifact(parts, asJson('artifact: value', redactor.redacted(made)))),
    configurable: configurableOf(driven.run, engine.configurable ?? []),
    secret: (name) => secrets.open(name),
    files: runFiles({ ...parts, ...reach, limits: reach.workspaceFiles, redactor, isReplay }),
    fetch: runFetch(driven, reach.fetch, isReplay),
    effect: runEffects({ ...parts, redactor, isReplay }),
    ...childRuns({ ...parts, redactor, isReplay, recordAudit: reach.recordAudit }),
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

/** Records events up to the first one that exceeds a limit, which ends the run. */
async function append(
  { driven, clock }: EngineExecutionParts,
  limits: NodeLimits,
  added: readonly NewEvent[],
): Promise<readonly RunEvent[]> {
  if (!driven.mayRecord()) throw driven.left;
  await limits.prepare().catch((error: unknown) => driven.leaveUnread(error));
  const recorded = await driven.step(async (open) => {
    if (!isDriven(open.run)) return [];
    // The store may have undone this step, and called it again.
    limits.takeBack(open.run.lastSequence);
    const found = open.run.status === 'running' ? limits.breachIn(open.run, added) : undefined;
    const taken = await open.append(...added.slice(0, found?.at));
    if (found !== undefined) await endByBreach(open, found.breach, clock.now());
    limits.count(taken);
    return taken;
  });
  limits.committed(recorded.at(-1)?.sequence ?? -1);
  if (recorded.length < added.length) throw driven.left;
  return recorded;
}

/** Fails a run that exceeds a limit, unless it was paused before. */
async function endByBreach(open: Pick<RunDraft, 'run' | 'append'>, { breached, outcome }: Breach, now: number) {
  if (open.run.status === 'running') await open.append(breached, endedEvent(open.run, outcome, now));
}

async function interrupt(parts: EngineExecutionParts, request: InterruptRequest): Promise<InterruptAnswer> {
  const { engine, driven, replay, store, clock, random, reach } = parts;
  const limit = reach.limits.clarificationRounds;
  const asked = checkedRequest(request, reach.approvers);
  requireDeclared(engine, asked);
  if (driven.left !== undefined) throw driven.left;
  const rounds = await clarifications(parts, asked);
  const answer = await driven.change(async (open) => {
    if (open.run.status !== 'running') return undefined;
    if (rounds >= limit && !(await isAsked(parts, open, asked))) {
      await endByBreach(open, tooManyClarifications(limit, rounds + 1), clock.now());
      return undefined;
    }
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

/** Counts the clarifications of a node before this question. A question of another kind is in no round. */
async function clarifications({ driven, store }: EngineExecutionParts, { kind, nodeId }: AskedQuestion) {
  if (kind !== 'clarification') return 0;
  return clarificationsOf(store, driven.run, nodeId).catch((error: unknown) => driven.leaveUnread(error));
}

async function isAsked(
  { store }: EngineExecutionParts,
  { run, transaction }: OpenRun,
  { kind, nodeId, key }: AskedQuestion,
): Promise<boolean> {
  return kind !== 'clarification' || (await store.interrupts.byKey(run.runId, nodeId, key, transaction)) !== undefined;
}

const UNANSWERED = Symbol('unanswered');

/** A subscription to the events of a kind that the engine does not declare is refused. */
function requireDeclared({ interrupts }: Pick<WorkflowEngine, 'interrupts'>, { kind }: AskedQuestion): void {
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
