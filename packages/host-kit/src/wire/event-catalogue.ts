import type { Major } from '@svc/versioning';
import { eventName } from '@svc/versioning/events';
import { z } from 'zod';
import { EVENT_TYPES, payloadExample } from '../events/event-types.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import { isOperationalEvent, operationalEventText } from '../webhooks/operational-event.ts';
import type { SubscribableEvents } from '../webhooks/subscribable.ts';
import { DELIVERY_JSON_SCHEMAS } from './delivery-schema.ts';
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
export function eventCatalogue(
  operationalEvents: readonly string[],
  subscribable: SubscribableEvents,
): readonly JsonObject[] {
  return typesOf(operationalEvents, subscribable)
    .filter((type) => 'type' in subscribable.named(2, type))
    .map(entryOf);
}

/**
 * One event type, in the spelling of either major, with the JSON Schema of its payload in major 2 and an example.
 * Undefined for an unknown type. The kit does not know the payload of a type of the engine: any JSON, and an empty example.
 */
export function eventTypeDetail(
  name: string,
  operationalEvents: readonly string[],
  subscribable: Pick<SubscribableEvents, 'vendorTypes'>,
): JsonObject | undefined {
  const type = typesOf(operationalEvents, subscribable).find((each) => each === name || eventName(1, each) === name);
  if (type === undefined) return undefined;
  return { ...entryOf(type), schema: payloadSchema(type), example: exampleOf(2, type) };
}

/** The types of the interface, those of events about subscriptions, and those of the engine. */
function typesOf(
  operationalEvents: readonly string[],
  { vendorTypes }: Pick<SubscribableEvents, 'vendorTypes'>,
): readonly string[] {
  return [...new Set([...EVENT_TYPES.keys(), ...operationalEvents, ...vendorTypes])];
}

/** Returns an example of the payload of an event type, which is given in the stored vocabulary. */
export function exampleOf(major: Major, type: string): JsonObject {
  const known = EVENT_TYPES.get(type);
  if (known !== undefined) return payloadExample(major, known);
  return isOperationalEvent(type) ? OPERATIONAL_EXAMPLE[major] : {};
}

const OPERATIONAL = { url: 'https://hooks.example.org/svc', failingSince: '2026-01-31T12:00:00.000Z' };
const OPERATIONAL_EXAMPLE: Readonly<Record<Major, JsonObject>> = {
  1: { webhookId: 'whk_01kahx3zr8p6t5v4w3x2y1z0ab', ...OPERATIONAL },
  2: { webhookId: 'acme/whk_01kahx3zr8p6t5v4w3x2y1z0ab', ...OPERATIONAL },
};

const OF_ENGINE = 'An event of the engine of this host, which defines its payload.';

function entryOf(type: string): JsonObject {
  const description = EVENT_TYPES.get(type)?.text ?? operationalEventText(type) ?? OF_ENGINE;
  return { type, typeInMajor1: eventName(1, type), description };
}

/** The payload schema of a type, as the schema of a delivery has it, with the definitions that it refers to. */
function payloadSchema(type: string): JsonObject {
  const { $defs } = DELIVERY_JSON_SCHEMAS[2];
  const payload = isJsonObject($defs) ? $defs[`payload.${type}`] : undefined;
  if (!isJsonObject(payload) || !isJsonObject($defs)) return {};
  const { subject } = $defs;
  return { ...payload, ...(subject !== undefined && { $defs: { subject } }) };
}
