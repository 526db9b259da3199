import { eventName } from '@svc/versioning/events';
import { EVENT_TYPES_V2 } from '@svc/webhook-verify/events';
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { DELIVERY_JSON_SCHEMA } from './delivery-schema.ts';
import { EVENT_DESCRIPTIONS } from './event-descriptions.ts';
import { payloadExample } from './event-example.ts';
import { jsonObject } from './schemas.ts';

const ENTRY = z.object({
  type: z.string().describe('The name in major 2.'),
  typeInMajor1: z.string(),
  description: z.string().optional(),
});

/** The schema of the list of event types. */
export const eventTypes: z.ZodType = z.object({ eventTypes: z.array(ENTRY) }).meta({ id: 'EventTypes' });

/** The schema of one event type. */
export const eventType: z.ZodType = ENTRY.extend({
  schema: jsonObject.describe('The JSON Schema of the payload in major 2. Empty: any JSON.'),
  example: jsonObject,
}).meta({ id: 'EventType' });

/** The event types that subscriptions can name: each with its spelling in both majors, and a description. */
export function eventCatalogue(operationalEvents: readonly string[]): readonly JsonObject[] {
  return [...EVENT_TYPES_V2, ...operationalEvents].map(entryOf);
}

/**
 * One event type, in the spelling of either major, with the JSON Schema of its payload in major 2 and an example.
 * Undefined for an unknown type. The payload of a type that workflow engines record may be any JSON.
 */
export function eventTypeDetail(name: string, operationalEvents: readonly string[]): JsonObject | undefined {
  const known = [...EVENT_TYPES_V2, ...operationalEvents];
  const type = known.find((each) => each === name || eventName(1, each) === name);
  if (type === undefined) return undefined;
  return { ...entryOf(type), schema: payloadSchema(type), example: payloadExample({ type }) };
}

function entryOf(type: string): JsonObject {
  const [, ...words] = type.split('.');
  const description = EVENT_DESCRIPTIONS[type] ?? EVENT_DESCRIPTIONS[words.join('.')];
  return { type, typeInMajor1: eventName(1, type), ...(description !== undefined && { description }) };
}

/** The payload schema of a type, as the schema of a delivery has it, with the definitions that it refers to. */
function payloadSchema(type: string): Json {
  const { $defs, properties } = asObject(DELIVERY_JSON_SCHEMA);
  const { anyOf } = asObject(asObject(properties).event);
  const branches = Array.isArray(anyOf) ? anyOf.map((branch) => asObject(asObject(branch).properties)) : [];
  const payload = branches.find((branch) => asObject(branch.type).const === type)?.payload;
  if (!isJsonObject(payload)) return {};
  return JSON.stringify(payload).includes('"#/$defs/') && isJsonObject($defs) ? { ...payload, $defs } : payload;
}

function asObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
