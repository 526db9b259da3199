import { z } from 'zod';
import type { FieldProblem } from '../errors.ts';
import { fieldProblems } from '../field-problems.ts';
import type { JsonObject } from '../json.ts';
import type { ApproverDirectory } from '../ports/approvers.ts';
import type {
  ApprovalAction,
  ApproverRefs,
  AskedQuestion,
  InterruptKind,
  InterruptRequest,
} from '../ports/interrupts.ts';
import { schemaOf } from './resume-schema.ts';

/**
 * Validates a question against the form of its kind, and returns it with the defaults of its kind.
 *
 * @param directory resolves groups and roles; undefined: the host has none
 * @throws {TypeError} for members that the kind does not have, for an escalation that does not fit its timeout, and for
 * groups and roles that no directory resolves
 */
export function checkedRequest(request: InterruptRequest, directory?: ApproverDirectory): AskedQuestion {
  const checked = REQUEST.safeParse(request);
  if (!checked.success) throw malformed(fieldProblems(REQUEST, request, checked.error, { root: 'question' }));
  const asked = { ...request, data: { ...defaultsOf(request), ...checked.data.data } };
  const data = DATA[asked.kind].safeParse(asked.data);
  if (!data.success) {
    throw malformed(fieldProblems(DATA[asked.kind], asked.data, data.error, { root: `data of ${asked.kind}` }));
  }
  for (const schema of [asked.resumeSchema, ...questionsOf(asked).map(({ schema }) => schema)]) {
    if (schema !== undefined) schemaOf(schema);
  }
  if (asked.kind === 'approval') checkApprovers(asked, directory ?? {});
  else if (asked.escalation !== undefined) throw new TypeError('interrupt: only an approval can have an escalation.');
  return asked;
}

/** The members of a subject that the interface requires, and that a plain question leaves out. */
function defaultsOf({ kind, nodeId }: InterruptRequest): JsonObject {
  return kind === 'approval' ? { artifactId: nodeId, artifactType: 'question', actions: ['accept', 'reject'] } : {};
}

function malformed(problems: readonly FieldProblem[]): TypeError {
  const sentences = problems.map(({ field, problem }) => `${field}: ${problem}${problem.endsWith('?') ? '' : '.'}`);
  return new TypeError(`interrupt: ${sentences.join(' ')}`);
}

const KINDS = [
  ...(['approval', 'clarification', 'external-event', 'custom', 'low-confidence'] as const),
  ...(['conversation.start', 'conversation.exchange', 'conversation.close'] as const),
] as const satisfies readonly InterruptKind[];

const object: z.ZodType<JsonObject> = z.record(z.string(), z.json());
const text = z.string().min(1);
const count = z.int().min(1);

const MOST_STEPS = 10;

const refs = z.array(text).min(1).max(100);

const APPROVERS = {
  approversList: z.array(text).min(1).optional(),
  approverGroupRefs: refs.optional(),
  approverRoleRefs: refs.optional(),
};

const REQUEST = z.strictObject({
  nodeId: z.string().regex(/^[A-Za-z0-9._~:-]{1,128}$/),
  key: z.string().min(1).max(256),
  kind: z.enum(KINDS),
  data: object,
  resumeSchema: object.optional(),
  timeoutMs: z.int().min(0).optional(),
  escalation: z
    .array(z.strictObject({ afterMs: count, ...APPROVERS }))
    .min(1)
    .max(MOST_STEPS)
    .optional(),
});

/** Rejects approvers that cannot be resolved, and escalations that cannot be carried out. */
function checkApprovers({ data, timeoutMs = 0, escalation = [] }: AskedQuestion, directory: ApproverDirectory): void {
  const { onTimeout, ...approval } = approvalData(data);
  for (const { approverGroupRefs, approverRoleRefs } of [approval, ...escalation]) {
    if (approverGroupRefs !== undefined && directory.groupsOf === undefined) throw unresolvable('Group', 'groupsOf');
    if (approverRoleRefs !== undefined && directory.rolesOf === undefined) throw unresolvable('Role', 'rolesOf');
  }
  if ((onTimeout === 'escalate') !== escalation.length > 0) {
    throw new TypeError("interrupt: escalation and data.onTimeout 'escalate' belong together. Give both or none.");
  }
  if (escalation.length === 0) return;
  if (![approval, ...escalation].every(namesApprovers)) {
    throw new TypeError('interrupt: an approval with an escalation, and each of its steps, must name approvers.');
  }
  const times = [0, ...escalation.map(({ afterMs }) => afterMs), timeoutMs];
  if (!times.every((time, index) => index === 0 || time > (times[index - 1] ?? 0))) {
    throw new TypeError('interrupt: escalation: afterMs must rise from step to step, and be less than timeoutMs.');
  }
}

function namesApprovers({ approversList, approverGroupRefs, approverRoleRefs }: ApproverRefs): boolean {
  return approversList !== undefined || approverGroupRefs !== undefined || approverRoleRefs !== undefined;
}

function unresolvable(kind: 'Group' | 'Role', method: string): TypeError {
  return new TypeError(
    `interrupt: approver${kind}Refs: the host cannot resolve them. Give createHost approvers.${method}, or use approversList.`,
  );
}

/** The actions that an approval may offer, as major 2 names them. */
export const APPROVAL_ACTIONS = [
  'accept',
  'reject',
  'refine',
  'edit-accept',
  'ask',
] as const satisfies readonly ApprovalAction[];

const APPROVAL = z.strictObject({
  artifactId: text,
  artifactType: text,
  title: text,
  actions: z
    .array(z.enum(APPROVAL_ACTIONS))
    .min(1)
    .refine((actions) => new Set(actions).size === actions.length, 'must not repeat an action'),
  description: z.string().optional(),
  artifactData: z.json().optional(),
  requiredApprovals: count.optional(),
  ...APPROVERS,
  /** Whom to tell about the question. It does not say who may answer. */
  audience: z.strictObject({ subjects: refs.optional(), groups: refs.optional(), roles: refs.optional() }).optional(),
  rejectionPolicy: z.enum(['single-veto', 'majority']).optional(),
  overrideBypassesQuorum: z.boolean().optional(),
  onTimeout: z.enum(['reject', 'escalate']).optional(),
});

const QUESTIONS = z.array(z.looseObject({ id: text, schema: object.optional() }));

/** Returns the questions of a clarification, with the schemas of their answers. A question of another kind has none. */
export function questionsOf({ kind, data }: Pick<AskedQuestion, 'kind' | 'data'>): z.infer<typeof QUESTIONS> {
  return kind === 'clarification' ? (QUESTIONS.safeParse(data.questions).data ?? []) : [];
}

const DATA: Readonly<Record<InterruptKind, z.ZodType>> = {
  approval: APPROVAL.refine(
    ({ requiredApprovals = 1, approversList, approverGroupRefs, approverRoleRefs, onTimeout }) =>
      approversList === undefined ||
      [approverGroupRefs, approverRoleRefs].some((named) => named !== undefined) ||
      onTimeout === 'escalate' ||
      new Set(approversList).size >= requiredApprovals,
    'requiredApprovals must not exceed the number of entries of approversList',
  ),
  clarification: z.looseObject({
    questions: z
      .array(z.looseObject({ id: text, question: text, schema: object.optional() }))
      .min(1)
      .refine((questions) => new Set(questions.map(({ id }) => id)).size === questions.length, 'must not repeat an id'),
    contextType: z.string().optional(),
  }),
  'external-event': z.looseObject({ eventType: text, correlation: object }),
  custom: z.looseObject({ customKind: text }),
  'conversation.start': z.looseObject({ conversationId: text }),
  'conversation.exchange': z.looseObject({ conversationId: text, prompt: z.string() }),
  'conversation.close': z.looseObject({ conversationId: text }),
  'low-confidence': z.looseObject({ agentId: text, threshold: z.number(), observed: z.number() }),
};

/** The validated data of an approval. */
export type ApprovalData = z.infer<typeof APPROVAL>;

/** Parses the data of an approval, which `checkedRequest` has validated. */
export function approvalData(data: JsonObject): ApprovalData {
  return APPROVAL.parse(data);
}
