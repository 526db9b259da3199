import { ANSWER, nodeId, plainId, QUESTION, texts, time } from '../members.ts';
import { any, closed, number, object, oneOf, optional, type PayloadShape, text, whole } from '../shape.ts';
import { type EventEntry, INTERRUPT_ID, RUN_ID } from './event-entry.ts';

const AT = '2026-09-21T08:30:00.000Z';
const ACTIONS = ['accept', 'reject', 'refine', 'edit-accept', 'ask'] as const;

const resolver = { issuer: 'urn:svc:api-key', subjectId: 'p_7f3a', tenant: 'acme', lane: 'api-key', kind: 'user' };
const approvalData = { artifactId: 'draft-1', artifactType: 'text', title: 'Publish the post?', actions: ['accept'] };
const answered = { nodeId: 'gate', interruptId: `acme/${INTERRUPT_ID}`, kind: 'approval' };
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
const placeExample = { runId: RUN_ID, nodeId: 'gate', interruptId: INTERRUPT_ID, requestedAt: AT };

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
    ...{
      nodeId: 'gate',
      interruptId: INTERRUPT_ID,
      kind: 'approval',
      resumeValue: { action: 'accept', decidedAt: AT },
    },
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

/** The event types of the questions for which a run waits. */
export const QUESTION_EVENTS = {
  'interrupt.requested': {
    text: 'The run asks a question and waits.',
    recordedBy: { questions: 'any' },
    isUpdate: true,
    ...question,
  },
  'interrupt.resolved': {
    text: 'A question of the run was answered.',
    recordedBy: { questions: 'any' },
    isUpdate: true,
    ...resolution,
  },
  'approval.requested': {
    text: 'A person is asked to approve.',
    recordedBy: { questions: 'approval' },
    isUpdate: true,
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
    exampleInMajor1: { ...approvalData, nodeId: 'gate', interruptId: INTERRUPT_ID },
  },
  'approval.received': {
    text: 'A person answered a request for approval.',
    recordedBy: { questions: 'approval' },
    isUpdate: true,
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
  'approval.granted': {
    text: 'A request for approval was granted.',
    recordedBy: { questions: 'approval' },
    isUpdate: true,
    ...vote('granted'),
  },
  'approval.rejected': {
    text: 'A request for approval was rejected.',
    recordedBy: { questions: 'approval' },
    isUpdate: true,
    ...vote('rejected'),
  },
  'approval.overridden': {
    text: 'A request for approval was decided over its quorum.',
    recordedBy: { questions: 'approval' },
    isUpdate: true,
    ...vote('overridden', { reason: text() }),
  },
  'clarification.requested': {
    text: 'A person is asked to clarify.',
    recordedBy: { questions: 'clarification' },
    isUpdate: true,
    ...question,
    example: clarification,
    exampleInMajor1: { ...clarification, ...placeExample },
  },
  'clarification.resolved': {
    text: 'A request to clarify was answered.',
    recordedBy: { questions: 'clarification' },
    isUpdate: true,
    ...resolution,
    example: { ...answered, kind: 'clarification', resumeValue: { colour: 'green' }, resolvedBy: resolver },
    exampleInMajor1: {
      ...{ nodeId: 'gate', interruptId: INTERRUPT_ID, kind: 'clarification', resumeValue: { colour: 'green' } },
      ...{ resolvedAt: AT, resolvedBy: 'p_7f3a' },
    },
  },
} as const satisfies Readonly<Record<string, EventEntry>>;
