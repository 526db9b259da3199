import type { JsonObject } from '../json.ts';
import {
  ANSWER,
  boundId,
  durationMs,
  failure,
  nodeId,
  owner,
  ownerV1,
  plainId,
  QUESTION,
  resumption,
  suspension,
  texts,
  time,
} from './members.ts';
import {
  any,
  closed,
  either,
  exact,
  flag,
  type Members,
  number,
  object,
  oneOf,
  open,
  optional,
  type PayloadShape,
  text,
  whole,
} from './shape.ts';

/** The payload of an event type. */
export interface PayloadRules {
  /** The payload in major 2: closed where the interface names its members. */
  readonly payload: PayloadShape;
  /** The payload in major 1. Default: the members of major 2, and any others. */
  readonly inMajor1?: PayloadShape;
  /** The payload as it is stored, where it has the members of both majors. Default: `payload`. */
  readonly stored?: PayloadShape;
  /** A payload of major 2, for test deliveries and documentation. */
  readonly example: JsonObject;
  /** A payload of major 1. Default: `example`. */
  readonly exampleInMajor1?: JsonObject;
  /** Members with the id of a run: stored as in major 1, and bound to the tenant in major 2. */
  readonly runIds?: readonly string[];
}

const RUN = 'run_01k0p3v5tq9d8m2x4c6b8n0r1s';
const INTERRUPT = 'int_01k0p3v7kd2m4s6q8x0z1b3n5r';
const AT = '2026-09-21T08:30:00.000Z';
const ACTIONS = ['accept', 'reject', 'refine', 'edit-accept', 'ask'] as const;

const resolver = { issuer: 'urn:svc:api-key', subjectId: 'p_7f3a', tenant: 'acme', lane: 'api-key', kind: 'user' };
const approvalData = { artifactId: 'draft-1', artifactType: 'text', title: 'Publish the post?', actions: ['accept'] };
const answered = { nodeId: 'gate', interruptId: `acme/${INTERRUPT}`, kind: 'approval' };
const approvalAnswer = { ...answered, resumeValue: { action: 'accept', decidedAt: AT }, resolvedBy: resolver };
const askedExample = { kind: 'approval', key: 'publish', data: approvalData };
const clarification = {
  kind: 'clarification',
  key: 'which',
  data: { questions: [{ id: 'colour', question: 'Which colour?' }] },
};

/** The stored members of a question, of which each major shows its own. */
const storedQuestion = object({ ...QUESTION, nodeId, interruptId: plainId, requestedAt: number() });
const storedAnswer = object({ nodeId, interruptId: plainId });
const placeV1 = { runId: plainId, nodeId, interruptId: plainId, requestedAt: time } as const;
const placeExample = { runId: RUN, nodeId: 'gate', interruptId: INTERRUPT, requestedAt: AT };

const question = {
  payload: closed(QUESTION),
  inMajor1: object({ ...QUESTION, ...placeV1 }),
  stored: storedQuestion,
  example: askedExample,
  exampleInMajor1: { ...askedExample, ...placeExample },
} as const;

const resolution = {
  payload: closed(ANSWER),
  inMajor1: object({
    nodeId,
    interruptId: plainId,
    kind: optional(text()),
    resumeValue: optional(any),
    resolvedAt: optional(time),
    resolvedBy: optional(text()),
  }),
  stored: storedAnswer,
  example: { ...approvalAnswer, decision: 'granted', action: 'accept' },
  exampleInMajor1: {
    ...{ nodeId: 'gate', interruptId: INTERRUPT, kind: 'approval', resumeValue: { action: 'accept', decidedAt: AT } },
    ...{ resolvedAt: AT, resolvedBy: 'p_7f3a' },
  },
} as const;

/** A vote in major 1 names the gate and the principal. */
function vote(decision: 'granted' | 'rejected' | 'overridden', more: { readonly reason?: PayloadShape<string> } = {}) {
  const exampleInMajor1 = { gateId: 'gate', principal: 'p_7f3a' };
  return {
    payload: closed(ANSWER),
    inMajor1: object({ gateId: nodeId, principal: text(), quorumProgress: optional(any), ...more }),
    stored: storedAnswer,
    example: { ...answered, resolvedBy: resolver, decision },
    exampleInMajor1: more.reason === undefined ? exampleInMajor1 : { ...exampleInMajor1, reason: 'urgent' },
  };
}

/** The rules of a payload with ids that major 2 binds to the tenant. */
function byId<const M extends Members>(members: (id: PayloadShape<string>) => M) {
  return {
    payload: closed(members(boundId)),
    inMajor1: object(members(plainId)),
    stored: closed(members(plainId)),
  };
}

/**
 * The event types whose payloads the interface describes, in the names of major 2. Every other type has an object with
 * any members.
 *
 * @see Interface: Events
 */
export const DESCRIBED = {
  'run.started': {
    payload: closed({
      workflowId: text({ minLength: 1 }),
      inputs: optional(open),
      transport: optional(oneOf('rest', 'mcp', 'a2a', 'ui')),
      engineVersion: optional(whole(0)),
      owner: optional(owner),
      tags: optional(texts),
      metadata: optional(open),
    }),
    inMajor1: object({
      workflowId: text({ minLength: 1 }),
      inputs: optional(open),
      transport: optional(oneOf('rest', 'mcp', 'a2a', 'ui')),
      engineVersion: optional(whole(0)),
      owner: optional(ownerV1),
      tags: optional(texts),
      metadata: optional(open),
    }),
    example: { workflowId: 'publish', inputs: { post: 42 }, transport: 'rest', engineVersion: 1, tags: ['blog'] },
  },
  'run.completed': {
    payload: closed({ outputs: open, durationMs: optional(durationMs) }),
    inMajor1: object({ outputs: optional(open), durationMs: optional(durationMs) }),
    example: { outputs: { url: 'https://blog.example/42' }, durationMs: 1200 },
  },
  'run.failed': {
    payload: closed({ error: failure, failedNodeId: optional(nodeId), durationMs: optional(durationMs) }),
    example: {
      ...{ error: { code: 'upstream_unavailable', message: 'The blog did not answer.', retryable: true } },
      ...{ failedNodeId: 'publish', durationMs: 1200 },
    },
  },
  'run.cancelled': {
    ...byId((runId) => ({
      reason: optional(text()),
      cancelledBy: optional(text()),
      durationMs: optional(durationMs),
      parentRunId: optional(runId),
    })),
    example: { reason: 'no longer needed', cancelledBy: 'p_7f3a', durationMs: 1200 },
    runIds: ['parentRunId'],
  },
  'run.paused': {
    payload: closed({
      reason: optional(text()),
      drainPolicy: optional(oneOf('drain-current-node', 'immediate')),
      interruptedNodeId: optional(nodeId),
      interruptedAttempt: optional(whole(0)),
    }),
    example: { reason: 'maintenance', drainPolicy: 'drain-current-node' },
  },
  'run.resumed': { payload: open, example: { reason: 'maintenance is over' } },
  'run.dead-lettered': {
    ...byId((runId) => ({ runId, reason: text(), attempts: whole(0), nodeId: optional(nodeId) })),
    example: { runId: `acme/${RUN}`, reason: 'retries_exhausted', attempts: 3 },
    exampleInMajor1: { runId: RUN, reason: 'retries_exhausted', attempts: 3 },
    runIds: ['runId'],
  },
  'node.started': {
    payload: closed({ nodeId, typeId: text({ minLength: 1, maxLength: 256 }), attempt: optional(whole(0)) }),
    example: { nodeId: 'publish', typeId: 'acme.publish', attempt: 0 },
  },
  'node.completed': {
    payload: closed({ nodeId, outputs: optional(any), durationMs: optional(durationMs) }),
    example: { nodeId: 'publish', outputs: { url: 'https://blog.example/42' } },
  },
  'node.failed': {
    payload: closed({ nodeId, error: failure, attempts: optional(whole(0)) }),
    example: { nodeId: 'publish', error: { code: 'upstream_unavailable', message: 'The blog did not answer.' } },
  },
  'node.suspended': {
    ...byId(suspension),
    example: { nodeId: 'gate', interruptId: `acme/${INTERRUPT}`, kind: 'approval', key: 'publish' },
    exampleInMajor1: { nodeId: 'gate', interruptId: INTERRUPT, kind: 'approval', key: 'publish' },
  },
  'node.resumed': {
    ...byId(resumption),
    example: { nodeId: 'gate', interruptId: `acme/${INTERRUPT}`, resumeValue: { action: 'accept' } },
    exampleInMajor1: { nodeId: 'gate', interruptId: INTERRUPT, resumeValue: { action: 'accept' } },
  },
  'node.retried': {
    payload: closed({ nodeId, attempt: whole(0), delayMs: optional(durationMs), lastError: optional(any) }),
    example: { nodeId: 'publish', attempt: 1, delayMs: 500 },
  },
  'node.skipped': {
    payload: closed({ nodeId, reason: optional(text()) }),
    example: { nodeId: 'translate', reason: 'one language only' },
  },
  'node.cancelled': {
    payload: closed({ nodeId, reason: optional(text()) }),
    example: { nodeId: 'publish', reason: 'run-cancelled' },
  },
  'interrupt.requested': question,
  'interrupt.resolved': resolution,
  'approval.requested': {
    ...question,
    inMajor1: object({
      nodeId,
      artifactId: text(),
      artifactType: text(),
      // Major 1 names `edit-accept` `edit` in an offer.
      actions: { ...texts, schema: { type: 'array', items: { type: 'string', enum: [...ACTIONS, 'edit'] } } },
      interruptId: optional(plainId),
      title: optional(text()),
      approversList: optional(texts),
      requiredApprovals: optional(whole(1)),
    }),
    exampleInMajor1: { ...approvalData, nodeId: 'gate', interruptId: INTERRUPT },
  },
  'approval.received': {
    payload: closed(ANSWER),
    inMajor1: object({
      nodeId,
      action: oneOf('accept', 'reject', 'refine', 'edit-accept', 'timeout'),
      decidedBy: optional(text()),
      decidedAt: optional(time),
      comment: optional(text()),
      feedback: optional(text()),
      refineFeedback: optional(any),
      editedArtifactData: optional(any),
    }),
    stored: storedAnswer,
    example: approvalAnswer,
    exampleInMajor1: { nodeId: 'gate', action: 'accept', decidedBy: 'p_7f3a', decidedAt: AT },
  },
  'approval.granted': vote('granted'),
  'approval.rejected': vote('rejected'),
  'approval.overridden': vote('overridden', { reason: text() }),
  'clarification.requested': {
    ...question,
    example: clarification,
    exampleInMajor1: { ...clarification, ...placeExample },
  },
  'clarification.resolved': {
    ...resolution,
    example: { ...answered, kind: 'clarification', resumeValue: { colour: 'green' }, resolvedBy: resolver },
    exampleInMajor1: {
      ...{ nodeId: 'gate', interruptId: INTERRUPT, kind: 'clarification', resumeValue: { colour: 'green' } },
      ...{ resolvedAt: AT, resolvedBy: 'p_7f3a' },
    },
  },
  'artifact.created': {
    payload: closed({
      artifactId: text({ minLength: 1 }),
      artifactType: text({ minLength: 1 }),
      nodeId: optional(nodeId),
      version: optional(any),
      summary: optional(text()),
      registered: optional(flag),
    }),
    example: { artifactId: 'art_01k0p3v9wn7t5q3m1k8j6h4g2f', artifactType: 'text', version: 1, summary: 'The post' },
  },
  'output.chunk': {
    payload: closed({
      nodeId,
      chunk: any,
      isLast: optional(flag),
      channel: optional(text()),
      meta: optional(any),
    }),
    example: { nodeId: 'draft', chunk: 'Once upon a time', isLast: false },
  },
  'variable.changed': {
    payload: closed({
      name: text({ minLength: 1 }),
      previous: optional(any),
      next: optional(any),
      nodeId: optional(nodeId),
    }),
    example: { name: 'attempts', previous: 1, next: 2 },
  },
  'log.appended': {
    payload: closed({
      level: oneOf('debug', 'info', 'warn', 'error'),
      message: text(),
      nodeId: optional(nodeId),
      fields: optional(open),
    }),
    example: { level: 'info', message: 'The post has 420 words.', nodeId: 'draft', fields: { words: 420 } },
  },
  'version.pinned': {
    payload: closed({ changeId: text({ minLength: 1 }), version: either(whole(0), text()) }),
    example: { changeId: 'shorter-titles', version: 2 },
  },
  'cap.breached': {
    payload: closed({ kind: text({ minLength: 1 }), limit: number(), observed: number() }),
    example: { kind: 'run-duration', limit: 600_000, observed: 600_004 },
  },
  'replay.diverged': {
    ...byId((runId) => ({
      sourceRunId: runId,
      atSequence: whole(0),
      originalEventId: optional(text()),
      divergenceKind: optional(text()),
      divergencePoint: optional(any),
    })),
    example: { sourceRunId: `acme/${RUN}`, atSequence: 4, divergenceKind: 'missing-node' },
    exampleInMajor1: { sourceRunId: RUN, atSequence: 4, divergenceKind: 'missing-node' },
    runIds: ['sourceRunId'],
  },
  'authorization.decided': {
    payload: closed({
      principal: text(),
      action: text({ minLength: 1 }),
      resource: text(),
      allowed: flag,
      reason: optional(text()),
    }),
    example: { principal: 'p_7f3a', action: 'runs.create', resource: 'publish', allowed: true, reason: 'role' },
  },
  'workspace.updated': {
    payload: exact({ path: text({ minLength: 1, maxLength: 256 }), version: whole(1) }),
    inMajor1: exact({ path: text({ minLength: 1, maxLength: 256 }), version: whole(1) }),
    example: { path: 'notes/plan.md', version: 3 },
  },
  'trigger.subscription-state-changed': {
    payload: closed({
      subscriptionId: optional(text()),
      source: optional(text()),
      fromState: optional(text()),
      toState: optional(text()),
      reason: optional(
        oneOf(
          ...(['retry-exhausted', 'operator-paused', 'signature-invalid'] as const),
          ...(['backpressure', 'source-removed', 'provenance-unevaluable'] as const),
        ),
      ),
    }),
    example: { subscriptionId: 'trg_orders', source: 'webhook', fromState: 'active', toState: 'paused' },
  },
  'trigger.delivery-attempted': {
    ...byId((runId) => ({
      subscriptionId: optional(text()),
      dedupKey: optional(text()),
      attempt: optional(whole(0)),
      outcome: optional(oneOf('delivered', 'retrying', 'dead-lettered')),
      runId: optional(runId),
    })),
    example: { subscriptionId: 'trg_orders', dedupKey: 'order-42', attempt: 1, outcome: 'delivered' },
    runIds: ['runId'],
  },
} as const satisfies Readonly<Record<string, PayloadRules>>;
