import { EVENT_TYPES_V2 } from '@svc/webhook-verify/events';
import { z } from 'zod';
import { jsonSchemaOf } from '../json-schema.ts';
import { eventMembers } from './event.ts';
import { question } from './interrupt.ts';
import { boundId, jsonObject, jsonValue, owner, runId, subject } from './schemas.ts';

const durationMs = z.number().min(0).optional();
const reason = z.string().optional();

/** The payload of every event that reports an answer to an interrupt: major 2 has one form for all of them. */
const answer = z.strictObject({
  nodeId: z.string(),
  interruptId: boundId,
  kind: z.string().optional(),
  resumeValue: jsonValue.optional(),
  reason: z.string().min(1).max(64).optional(),
  resolvedBy: subject.optional(),
  decision: z.enum(['granted', 'rejected', 'overridden']).optional(),
  action: z.string().optional(),
});

/** The payloads of the events that only the kit records. */
const PAYLOADS = {
  'run.started': z.strictObject({
    workflowId: z.string(),
    inputs: jsonObject.optional(),
    transport: z.enum(['rest', 'mcp', 'a2a', 'ui']).optional(),
    engineVersion: z.int().min(0).optional(),
    owner: owner[2].optional(),
    tags: z.array(z.string()).optional(),
    metadata: jsonObject.optional(),
  }),
  'run.completed': z.strictObject({ outputs: jsonObject, durationMs }),
  'run.failed': z.strictObject({
    error: z.strictObject({
      code: z.string(),
      message: z.string(),
      details: jsonObject.optional(),
      retryable: z.boolean().optional(),
    }),
    failedNodeId: z.string().optional(),
    durationMs,
  }),
  'run.cancelled': z.strictObject({
    reason,
    cancelledBy: z.string().optional(),
    durationMs,
    parentRunId: boundId.optional(),
  }),
  'run.paused': z.strictObject({
    reason,
    drainPolicy: z.enum(['drain-current-node', 'immediate']).optional(),
    interruptedNodeId: z.string().optional(),
    interruptedAttempt: z.int().min(0).optional(),
  }),
  'run.resumed': jsonObject,
  'node.suspended': z.strictObject({
    nodeId: z.string(),
    interruptId: boundId,
    kind: z.string().optional(),
    key: z.string().optional(),
    reason: z.string().min(1).max(64).optional(),
  }),
  'node.resumed': z.strictObject({
    nodeId: z.string(),
    interruptId: boundId.optional(),
    resumeValue: jsonValue.optional(),
  }),
  'interrupt.requested': question[2],
  'interrupt.resolved': answer,
  'approval.requested': question[2],
  'approval.received': answer,
  'approval.granted': answer,
  'approval.rejected': answer,
} as const satisfies Readonly<Record<string, z.ZodType>>;

/** The types of the events that engines record: each engine chooses its payloads. */
const OTHERS = [...EVENT_TYPES_V2].filter((type) => !(type in PAYLOADS));

/** The type of a vendor's event: two or three words, the organization first. */
const VENDOR = new RegExp(
  `^(?!(?:${[...new Set([...EVENT_TYPES_V2].map((type) => type.split('.', 1)[0]))].join('|')})\\.)` +
    '[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:\\.[a-z][a-z0-9]*(?:-[a-z0-9]+)*){1,2}$',
);

const event = z.union([
  ...Object.entries(PAYLOADS).map(([type, payload]) =>
    z.strictObject({ ...eventMembers(2), type: z.literal(type), payload }),
  ),
  z.strictObject({ ...eventMembers(2), type: z.enum(OTHERS) }),
  z.strictObject({ ...eventMembers(2), type: z.string().regex(VENDOR) }),
]);

/** The schema of a delivery to a subscriber in major 2. */
export const delivery: z.ZodType = z.strictObject({
  runId: runId[2],
  workspaceId: z
    .string()
    .regex(/^[A-Za-z0-9._~-]{1,128}$/)
    .optional()
    .describe('Present exactly when the owner of the run names a workspace.'),
  event,
});

/**
 * The JSON Schema of a delivery in major 2, for validators in any language. It is closed, and it describes the payload
 * of every event that the kit records. The payload of an event that a workflow engine records may be any JSON.
 *
 * @example
 * import { Ajv2020 } from 'ajv/dist/2020.js';
 *
 * const isDelivery = new Ajv2020().compile(DELIVERY_JSON_SCHEMA);
 * if (!isDelivery(JSON.parse(body))) console.error(isDelivery.errors);
 * @see Interface: Webhook delivery body; Releases and schemas, 2
 */
export const DELIVERY_JSON_SCHEMA: object = {
  $id: 'https://svc.example/spec/v2/webhook-delivery.schema.json',
  ...jsonSchemaOf(delivery),
};
