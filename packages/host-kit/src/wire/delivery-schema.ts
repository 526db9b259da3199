import type { Major } from '@svc/versioning';
import {
  EVENT_TYPES,
  type EventType,
  PROTOCOL_FIRST,
  payloadExample,
  typeName,
  VENDOR_PATTERN,
} from '../events/event-types.ts';
import { SUBJECT } from '../events/members.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { DELIVERY, EVENT } from './delivery-members.ts';

/**
 * The JSON Schema of a delivery in each major, for validators in any language. It describes the payload of every event
 * type whose members the interface names, and it is what the log holds an event to before it stores it. Major 2 is
 * closed; major 1 allows further members. The identifier of a schema does not change.
 *
 * The same documents are files of the package, such as `@svc/host-kit/schemas/v2/webhook-delivery.schema.json`, and
 * every host serves them under `/host/<org>/schemas/`.
 *
 * @example
 * import addFormats from 'ajv-formats';
 * import { Ajv2020 } from 'ajv/dist/2020.js';
 *
 * const ajv = new Ajv2020({ strict: true });
 * addFormats(ajv);
 * const isDelivery = ajv.compile(DELIVERY_JSON_SCHEMAS[2]);
 * if (!isDelivery(JSON.parse(body))) console.error(isDelivery.errors);
 * @see Interface: Webhook delivery body; Releases and schemas, 2
 */
export const DELIVERY_JSON_SCHEMAS: Readonly<Record<Major, JsonObject>> = {
  1: deliverySchema(1),
  2: deliverySchema(2),
};

function deliverySchema(major: Major): JsonObject {
  const body = DELIVERY[major].schema;
  return {
    $id: `https://svc.example/spec/v${major}/webhook-delivery.schema.json`,
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `Delivery of an event in major ${major}`,
    ...body,
    properties: { ...membersOf(body), event: { $ref: '#/$defs/event' } },
    $defs: {
      event: eventSchema(major),
      eventType: eventTypeSchema(major),
      ...payloadSchemas(major),
      subject: SUBJECT.schema,
    },
  };
}

/** The payload of each type is a condition on `type`, so that a validator names the rule that is broken. */
function eventSchema(major: Major): JsonObject {
  const event = EVENT[major].schema;
  const types = [...EVENT_TYPES.values()];
  const described = types.filter(({ isDescribed }) => isDescribed);
  const others = types.filter(({ isDescribed }) => !isDescribed).map((type) => typeName(major, type));
  return {
    ...event,
    properties: { ...membersOf(event), type: { $ref: '#/$defs/eventType' }, payload: {} },
    allOf: [
      ...described.map((type) =>
        payloadWhere({ const: typeName(major, type) }, { $ref: `#/$defs/payload.${typeName(major, type)}` }),
      ),
      payloadWhere({ enum: others }, { type: 'object' }),
    ],
  };
}

function payloadWhere(type: JsonObject, payload: JsonObject): JsonObject {
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema; nothing awaits a schema.
  return { if: { properties: { type }, required: ['type'] }, then: { properties: { payload } } };
}

/** A type of the vocabulary, or of a vendor. The first words of the vocabulary are no vendors. */
function eventTypeSchema(major: Major): JsonObject {
  const reserved = `^(?:${[...PROTOCOL_FIRST].sort().join('|')})[.]`;
  return {
    type: 'string',
    anyOf: [
      { enum: [...EVENT_TYPES.values()].map((type) => typeName(major, type)) },
      { pattern: VENDOR_PATTERN, not: { pattern: reserved } },
    ],
  };
}

function payloadSchemas(major: Major): JsonObject {
  const described = [...EVENT_TYPES.values()].filter(({ isDescribed }) => isDescribed);
  return Object.fromEntries(
    described.map((type) => {
      const schema = { ...payloadSchema(type)[major], examples: [payloadExample(major, type)] };
      return [`payload.${typeName(major, type)}`, schema];
    }),
  );
}

function payloadSchema({ payload, inMajor1 }: EventType): Readonly<Record<Major, JsonObject>> {
  return { 1: inMajor1?.schema ?? opened(payload.schema), 2: payload.schema };
}

/** In major 1 every object may have further members. */
function opened(schema: JsonObject): JsonObject {
  const { additionalProperties: _, patternProperties: _extensions, ...kept } = schema;
  const { properties } = kept;
  if (!isJsonObject(properties)) return kept;
  const members = Object.entries(properties).map(([name, member]): [string, Json | undefined] => [
    name,
    isJsonObject(member) ? opened(member) : member,
  ]);
  return { ...kept, properties: Object.fromEntries(members) };
}

function membersOf({ properties }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {};
}
