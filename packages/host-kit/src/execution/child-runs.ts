import { asJson } from '../as-json.ts';
import type { RecordAudit } from '../audit/fact.ts';
import { factAboutRun } from '../audit/fact.ts';
import { ask } from '../interrupts/ask.ts';
import { childQuestion } from '../interrupts/child-question.ts';
import { isJsonObject } from '../json.ts';
import { type ChildOutcome, ChildRefused, type ChildRequest, MOST_RUN_DEPTH } from '../ports/child-runs.ts';
import type { Execution, VersionedEngine, WorkflowEngine } from '../ports/engine.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { isTerminal, type Run } from '../ports/runs.ts';
import { childRun, depthBelow } from '../runs/child-run.ts';
import { engineRefusal } from '../runs/engine-refusal.ts';
import type { OpenRun } from '../runs/event-log.ts';
import type { DrivenRun } from './driven-run.ts';
import type { Redactor } from './redactor.ts';
import type { RunFamilies } from './run-families.ts';

export interface ChildRunsParts extends Pick<HostPorts, 'store' | 'clock' | 'random'> {
  readonly engine: Pick<VersionedEngine, 'version' | 'accepts' | 'interrupts' | 'compensation'>;
  readonly driven: DrivenRun;
  readonly redactor: Redactor;
  readonly recordAudit: RecordAudit;
  readonly families: Pick<RunFamilies, 'note' | 'check'>;
  /** Drives a new child. */
  readonly drive: (child: Run) => void;
  readonly isReplay: boolean;
}

/** Makes the methods of an execution that start children and wait for them. */
export function childRuns(parts: ChildRunsParts): Pick<Execution, 'startChild' | 'awaitChild'> {
  const { redactor, engine, isReplay } = parts;
  return {
    async startChild(request) {
      requireNoReplay(isReplay, 'startChild');
      requireWait(engine);
      const { runId, workflowId } = await start(
        parts,
        checked(asJson('startChild: request', redactor.redacted(request))),
      );
      return { runId, workflowId };
    },
    async awaitChild(nodeId) {
      requireNoReplay(isReplay, 'awaitChild');
      requireWait(engine);
      return await outcome(parts, nodeId);
    },
  };
}

/** Creates the child of a node in the transaction in which it found that the node has none. */
async function start(parts: ChildRunsParts, request: ChildRequest): Promise<Run> {
  const { store, clock, driven, engine, recordAudit, families, drive } = parts;
  if (driven.left !== undefined) throw driven.left;
  const made = await driven.change(async (open) => {
    if (open.run.status !== 'running') return undefined;
    const { run, transaction } = open;
    const existing = await store.runs.childOf({ runId: run.runId, nodeId: request.nodeId }, transaction);
    if (existing !== undefined) return { child: existing, isNew: false };
    const refusal = refusalOf(run, request, engine);
    if (refusal !== undefined) return refusal;
    const child = childRun(run, request, parts);
    await store.runs.insert(child, transaction);
    const target = `${child.tenant}/${child.runId}`;
    const details = { workflow: child.workflowId, parent: run.runId };
    await recordAudit(factAboutRun(child, { action: 'run.create', target, at: clock.now(), details }), transaction);
    return { child, isNew: true };
  });
  if (made instanceof ChildRefused) throw made;
  if (made === undefined) throw driven.left;
  const { child, isNew } = made;
  families.note(driven.run.runId, child.runId);
  if (isNew) drive(child);
  return child;
}

function refusalOf(
  parent: Run,
  { workflowId, inputs }: ChildRequest,
  engine: Pick<WorkflowEngine, 'accepts'>,
): ChildRefused | undefined {
  if (depthBelow(parent) > MOST_RUN_DEPTH) {
    const message = `A run has at most ${MOST_RUN_DEPTH} runs above it. Do the work of this child in a step.`;
    return new ChildRefused('sub_chain_depth_exceeded', message);
  }
  const refusal = engineRefusal(engine, workflowId, inputs);
  return refusal && new ChildRefused('validation_error', `The child was refused: ${refusal.field} ${refusal.problem}.`);
}

/** Returns the outcome of the child of a node, or makes the run wait for it. */
async function outcome(parts: ChildRunsParts, nodeId: string): Promise<ChildOutcome> {
  const { store, driven, families } = parts;
  if (driven.left !== undefined) throw driven.left;
  const found = await driven.change((open) => endedOrAwaited(parts, open, nodeId));
  if (found === 'none') throw new TypeError(`awaitChild: node ${nodeId} has no child. Call startChild before.`);
  if (found === undefined) {
    // The child may have ended before its parent waited, which then nothing would wake.
    families.note(driven.run.runId);
    void families.check(driven.run.runId);
    throw driven.left;
  }
  const [last] = await store.events
    .list(found, { after: found.lastSequence - 1, limit: 1 })
    .catch((error: unknown) => driven.leaveUnread(error));
  if (found.status === 'cancelled') return { status: 'cancelled' };
  if (found.status === 'failed' && found.error !== undefined) {
    const error = isJsonObject(last?.payload) && isJsonObject(last.payload.error) ? last.payload.error : {};
    const { retryable } = error;
    return { status: 'failed', error: { ...found.error, ...(typeof retryable === 'boolean' && { retryable }) } };
  }
  const outputs = isJsonObject(last?.payload) ? last.payload.outputs : undefined;
  return { status: 'completed', outputs: isJsonObject(outputs) ? outputs : {} };
}

async function endedOrAwaited(
  { store, clock, random }: ChildRunsParts,
  open: OpenRun,
  nodeId: string,
): Promise<Run | 'none' | undefined> {
  const { run, transaction } = open;
  if (run.status !== 'running') return undefined;
  const child = await store.runs.childOf({ runId: run.runId, nodeId }, transaction);
  if (child === undefined) return 'none';
  if (isTerminal(child.status)) return child;
  await ask({ interrupts: store.interrupts, clock, random }, open, childQuestion(child, { nodeId }));
  return undefined;
}

function checked(request: ChildRequest): ChildRequest {
  for (const name of ['nodeId', 'workflowId'] as const) {
    if (typeof request[name] === 'string' && request[name] !== '') continue;
    throw new TypeError(
      `startChild: ${name} must be text. Pass the id of a ${name === 'nodeId' ? 'node' : 'workflow'}.`,
    );
  }
  if (!isJsonObject(request.inputs)) throw new TypeError('startChild: inputs must be an object. Pass one.');
  return request;
}

function requireNoReplay(isReplay: boolean, method: string): void {
  if (!isReplay) return;
  throw new TypeError(`${method}: a replay has no children. Call it in a node, which a replay does not execute.`);
}

/** The wait for a child is a question of a kind that the engine has to declare. */
function requireWait({ interrupts }: Pick<WorkflowEngine, 'interrupts'>): void {
  if (interrupts === undefined || interrupts.includes('external-event')) return;
  throw new TypeError(
    'startChild: interrupts of the engine has no external-event, by which a run waits. Add it there.',
  );
}
