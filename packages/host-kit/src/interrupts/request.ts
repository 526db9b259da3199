import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { InterruptKind, InterruptRequest } from '../ports/interrupts.ts';
import { schemaOf } from './resume-schema.ts';

/**
 * Validates a question against the form of its kind, and returns it.
 *
 * @throws {TypeError} for members that the kind does not have, and for approver groups and roles, which the kit cannot
 * enforce
 */
export function checkedRequest(request: InterruptRequest): InterruptRequest {
  const checked = REQUEST.safeParse(request);
  if (!checked.success) throw new TypeError(`interrupt: ${z.prettifyError(checked.error)}`);
  const data = DATA[request.kind].safeParse(request.data);
  if (!data.success) throw new TypeError(`interrupt: data of ${request.kind}: ${z.prettifyError(data.error)}`);
  if (request.resumeSchema !== undefined) schemaOf(request.resumeSchema);
  return request;
}

const KINDS = [
  ...(['approval', 'clarification', 'external-event', 'custom', 'low-confidence'] as const),
  ...(['conversation.start', 'conversation.exchange', 'conversation.close'] as const),
] as const satisfies readonly InterruptKind[];

const object: z.ZodType<JsonObject> = z.record(z.string(), z.json());
const text = z.string().min(1);
const count = z.int().min(1);

const REQUEST = z.strictObject({
  nodeId: z.string().regex(/^[A-Za-z0-9._~:-]{1,128}$/),
  key: z.string().min(1).max(256),
  kind: z.enum(KINDS),
  data: object,
  resumeSchema: object.optional(),
  timeoutMs: z.int().min(0).optional(),
});

/** The actions that an approval may offer, as major 2 names them. */
export const APPROVAL_ACTIONS = ['accept', 'reject', 'refine', 'edit-accept', 'ask'] as const;

/** Approvers are a list of principals. Groups and roles would need a directory, which the kit does not have. */
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
  approversList: z.array(text).min(1).optional(),
  rejectionPolicy: z.enum(['single-veto', 'majority']).optional(),
  onTimeout: z.literal('reject').optional(),
});

const DATA: Readonly<Record<InterruptKind, z.ZodType>> = {
  approval: APPROVAL.refine(
    ({ requiredApprovals = 1, approversList }) =>
      approversList === undefined || approversList.length >= requiredApprovals,
    'requiredApprovals must not exceed the number of entries of approversList',
  ),
  clarification: z.looseObject({
    questions: z.array(z.looseObject({ id: text, question: text })).min(1),
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
