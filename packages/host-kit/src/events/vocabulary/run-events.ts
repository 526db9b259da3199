import { bindableId, durationMs, failure, nodeId, owner, ownerV1, texts } from '../members.ts';
import {
  any,
  closed,
  either,
  number,
  object,
  oneOf,
  open,
  optional,
  type PayloadShape,
  text,
  whole,
} from '../shape.ts';
import { byId, type EventEntry, RUN_ID } from './event-entry.ts';

/** The event types of a run as a whole, of its workflow and of the hosts that drive it. */
export const RUN_EVENTS = {
  'run.started': {
    text: 'The run began. It is the first event of every run.',
    recordedBy: 'kit',
    isUpdate: true,
    payload: closed(started(owner)),
    inMajor1: object(started(ownerV1)),
    example: { workflowId: 'publish', inputs: { post: 42 }, transport: 'rest', engineVersion: 1, tags: ['blog'] },
  },
  'run.completed': {
    text: 'The run ended with its outputs.',
    recordedBy: 'kit',
    isUpdate: true,
    payload: closed({ outputs: open, durationMs: optional(durationMs) }),
    inMajor1: object({ outputs: optional(open), durationMs: optional(durationMs) }),
    example: { outputs: { url: 'https://blog.example/42' }, durationMs: 1200 },
  },
  'run.failed': {
    text: 'The run ended with an error.',
    recordedBy: 'kit',
    isUpdate: true,
    payload: closed({ error: failure, failedNodeId: optional(nodeId), durationMs: optional(durationMs) }),
    example: {
      ...{ error: { code: 'upstream_unavailable', message: 'The blog did not answer.', retryable: true } },
      ...{ failedNodeId: 'publish', durationMs: 1200 },
    },
  },
  'run.cancelled': {
    text: 'The run was cancelled.',
    recordedBy: 'kit',
    isUpdate: true,
    ...byId((runId) => ({
      reason: optional(text()),
      cancelledBy: optional(text()),
      durationMs: optional(durationMs),
      parentRunId: optional(runId),
    })),
    example: { reason: 'no longer needed', cancelledBy: 'p_7f3a', durationMs: 1200 },
    runIds: ['parentRunId'],
  },
  'run.resume-started': {
    nameInMajor1: 'run.resuming',
    text: 'The host began to resume the run.',
    recordedBy: 'never',
  },
  'run.paused': {
    text: 'The run was paused.',
    recordedBy: 'kit',
    isUpdate: true,
    payload: closed({
      reason: optional(text()),
      drainPolicy: optional(oneOf('drain-current-node', 'immediate')),
      interruptedNodeId: optional(nodeId),
      interruptedAttempt: optional(whole(0)),
    }),
    example: { reason: 'maintenance', drainPolicy: 'drain-current-node' },
  },
  'run.resumed': {
    text: 'The paused run continues.',
    recordedBy: 'kit',
    isUpdate: true,
    payload: open,
    example: { reason: 'maintenance is over' },
  },
  'run.restored-from-snapshot': { text: 'The run was restored from a snapshot.', recordedBy: 'never' },
  'run.dead-lettered': {
    nameInMajor1: 'run.dead_lettered',
    text: 'The run was given up after its last attempt.',
    recordedBy: 'never',
    ...byId((runId) => ({ runId, reason: text(), attempts: whole(0), nodeId: optional(nodeId) })),
    example: { runId: `acme/${RUN_ID}`, reason: 'retries_exhausted', attempts: 3 },
    exampleInMajor1: { runId: RUN_ID, reason: 'retries_exhausted', attempts: 3 },
    runIds: ['runId'],
  },
  'workflow.restored': { text: 'The workflow was restored to an earlier version.' },
  'workflow.loopback-limit': { text: 'A loop reached its limit.' },
  'workflow.stalled': { text: 'The workflow has no node that could continue.' },
  'workflow-chain.event': { nameInMajor1: 'core.workflowChain.event', text: 'A chain of workflows reported an event.' },
  'workflow-chain.confidence-escalated': {
    nameInMajor1: 'core.workflowChain.confidence-escalated',
    text: 'A chain of workflows asked for help, because its confidence was low.',
  },
  'version.pinned': {
    text: 'The version of a change was fixed for the run.',
    payload: closed({ changeId: text({ minLength: 1 }), version: either(whole(0), text()) }),
    example: { changeId: 'shorter-titles', version: 2 },
  },
  'cap.breached': {
    text: 'The run reached one of its limits.',
    recordedBy: 'kit-and-engine',
    payload: closed({ kind: text({ minLength: 1 }), limit: number(), observed: number() }),
    example: { kind: 'run-duration', limit: 600_000, observed: 600_004 },
  },
  'lease.acquired': { text: 'A host took over the run.' },
  'lease.renewed': { text: 'The host of the run renewed its lease.' },
  'lease.lost': { text: 'The host of the run lost its lease.' },
  'lease.handed-off': { text: 'The host of the run handed it to another one.' },
  'replay.diverged': {
    text: 'A replay differs from its source.',
    ...byId(
      (runId) => ({
        sourceRunId: runId,
        atSequence: whole(0),
        originalEventId: optional(text()),
        divergenceKind: optional(text()),
        divergencePoint: optional(any),
      }),
      bindableId,
    ),
    example: { sourceRunId: `acme/${RUN_ID}`, atSequence: 4, divergenceKind: 'missing-node' },
    exampleInMajor1: { sourceRunId: RUN_ID, atSequence: 4, divergenceKind: 'missing-node' },
    runIds: ['sourceRunId'],
  },
  'replay.diverged-at-refusal': {
    nameInMajor1: 'replay.divergedAtRefusal',
    text: 'A replay differs from its source at a refusal.',
  },
  'roster.run-initiated': { nameInMajor1: 'roster.run.initiated', text: 'An agent of a roster started a run.' },
} as const satisfies Readonly<Record<string, EventEntry>>;

/** The members of `run.started`, with the owner of a major. */
function started<const O extends PayloadShape>(runOwner: O) {
  return {
    workflowId: text({ minLength: 1 }),
    inputs: optional(open),
    transport: optional(oneOf('rest', 'mcp', 'a2a', 'ui')),
    engineVersion: optional(whole(0)),
    owner: { optional: runOwner },
    tags: optional(texts),
    metadata: optional(open),
  } as const;
}
