import type { Major } from '@svc/versioning';
import { canonicalEventName, eventName } from '@svc/versioning/events';
import {
  EVENT_TYPES_V1,
  EVENT_TYPES_V2,
  type EventTypeV1,
  type EventTypeV2,
  isEventTypeV2,
} from '@svc/webhook-verify/events';
import type { Json, JsonObject } from '../json.ts';
import { nearestOf } from '../nearest.ts';
import { DESCRIBED, type PayloadRules } from './payloads.ts';
import { open, type PayloadShape } from './shape.ts';

/** An event type in both majors, with the rules of its payload. */
export interface EventType extends PayloadRules {
  /** The name in major 2, under which events are stored. */
  readonly type: string;
  /** The name in major 1. */
  readonly typeInMajor1: string;
  /** False: the interface names the type and describes no member of its payload. */
  readonly isDescribed: boolean;
}

const RULES: ReadonlyMap<string, PayloadRules> = new Map(Object.entries(DESCRIBED));
const UNDESCRIBED: PayloadRules = { payload: open, example: {} };

/** Every event type, by its name in major 2. @see Interface: Events */
export const EVENT_TYPES: ReadonlyMap<string, EventType> = new Map(
  [...EVENT_TYPES_V2].map((type) => {
    const rules = RULES.get(type);
    return [
      type,
      { type, typeInMajor1: eventName(1, type), isDescribed: rules !== undefined, ...(rules ?? UNDESCRIBED) },
    ];
  }),
);

/** Returns the name of an event type in a major. */
export function typeName(major: Major, { type, typeInMajor1 }: EventType): string {
  return major === 1 ? typeInMajor1 : type;
}

/** Returns an example of the payload of an event type in a major. */
export function payloadExample(major: Major, { example, exampleInMajor1 = example }: EventType): JsonObject {
  return major === 1 ? exampleInMajor1 : example;
}

/** The stored name of an event type in the spelling of either major. Undefined for a name that neither major has. */
export function storedType(name: string): string | undefined {
  if (isEventTypeV2(name)) return name;
  return EVENT_TYPES_V1.has(name) ? canonicalEventName(1, name) : undefined;
}

/**
 * Whether a name is one of a vendor: two or three words in lower kebab case, joined by dots, of which the first is the
 * vendor's. The first words of the protocol's own names are no vendors.
 */
export function isVendorType(name: string): boolean {
  return VENDOR_TYPE.test(name) && !PROTOCOL_FIRST.has(name.slice(0, name.indexOf('.')));
}

/** The form of a vendor's type, as a pattern of JSON Schema. */
export const VENDOR_PATTERN = '^[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:\\.[a-z0-9]+(?:-[a-z0-9]+)*){1,2}$';
const VENDOR_TYPE = new RegExp(VENDOR_PATTERN, 'u');

/** The first words that no vendor has: those of the vocabulary of both majors, and the reserved ones. */
export const PROTOCOL_FIRST: ReadonlySet<string> = new Set([
  ...[...EVENT_TYPES_V1, ...EVENT_TYPES_V2].map((name) => name.slice(0, name.indexOf('.'))),
  ...['svc', 'vendor', 'effect-seams', 'events'],
]);

/** The known event type whose name is the most similar to `name`, in either spelling. */
export function nearestType(name: string): string {
  return nearestOf(name, NAMES);
}

const NAMES: readonly string[] = [...new Set([...EVENT_TYPES_V2, ...EVENT_TYPES_V1])];

/** Payloads by event type, in the names of major 2. A type that is missing here takes any JSON object. */
export type EventPayloads = {
  readonly [T in keyof typeof DESCRIBED]: (typeof DESCRIBED)[T]['payload'] extends PayloadShape<infer Payload>
    ? Payload
    : never;
};

/**
 * The payload of an event that an engine appends: of its type; any JSON object for a vendor's type; any JSON for a type
 * that is known at runtime alone. `never` for a name that is no event type.
 */
export type PayloadOf<T extends string> = string extends T
  ? Json
  : T extends keyof EventPayloads
    ? EventPayloads[T]
    : T extends EventTypeV1 | EventTypeV2
      ? JsonObject
      : T extends `${infer First}.${string}`
        ? [Extract<EventTypeV1 | EventTypeV2, `${First}.${string}`>] extends [never]
          ? JsonObject
          : never
        : never;
