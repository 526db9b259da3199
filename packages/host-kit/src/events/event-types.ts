import type { Major } from '@svc/versioning';
import type { EventTypeV1, EventTypeV2 } from '@svc/webhook-verify/events';
import type { Json, JsonObject } from '../json.ts';
import { nearestOf } from '../nearest.ts';
import { open, type PayloadShape } from './shape.ts';
import type { EventEntry, PayloadRules, Recorder } from './vocabulary/event-entry.ts';
import { VOCABULARY } from './vocabulary/vocabulary.ts';

/** An event type in both majors, with the rules of its payload. */
export interface EventType extends PayloadRules {
  /** The name in major 2, under which events are stored. */
  readonly type: string;
  /** The name in major 1. */
  readonly typeInMajor1: string;
  /** A sentence about the event. */
  readonly text: string;
  /** Who records the events. */
  readonly recordedBy: Recorder;
  /** Whether the stream mode `updates` shows the events. */
  readonly isUpdate: boolean;
  /** False: the interface names the type and describes no member of its payload. */
  readonly isDescribed: boolean;
}

/** Every event type, by its name in major 2. @see Interface: Events */
export const EVENT_TYPES: ReadonlyMap<string, EventType> = new Map(
  Object.entries<EventEntry>(VOCABULARY).map(([type, entry]) => [type, eventType(type, entry)]),
);

/** Every event type, by its name in each major. */
export const EVENT_TYPES_IN: Readonly<Record<Major, ReadonlyMap<string, EventType>>> = {
  1: new Map([...EVENT_TYPES.values()].map((each) => [each.typeInMajor1, each])),
  2: EVENT_TYPES,
};

function eventType(type: string, entry: EventEntry): EventType {
  const { nameInMajor1 = type, text, recordedBy = 'engine', isUpdate = false, payload, example, ...rules } = entry;
  return {
    ...rules,
    ...{ type, typeInMajor1: nameInMajor1, text, recordedBy, isUpdate },
    ...{ isDescribed: payload !== undefined, payload: payload ?? open, example: example ?? {} },
  };
}

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
  return (EVENT_TYPES_IN[2].get(name) ?? EVENT_TYPES_IN[1].get(name))?.type;
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
  ...[...EVENT_TYPES_IN[1].keys(), ...EVENT_TYPES_IN[2].keys()].map((name) => name.slice(0, name.indexOf('.'))),
  ...['svc', 'vendor', 'effect-seams', 'events'],
]);

/** The known event type whose name is the most similar to `name`, in either spelling. */
export function nearestType(name: string): string {
  return nearestOf(name, NAMES);
}

const NAMES: readonly string[] = [...new Set([...EVENT_TYPES_IN[2].keys(), ...EVENT_TYPES_IN[1].keys()])];

/** Payloads by event type, in the names of major 2. A type that is missing here takes any JSON object. */
export type EventPayloads = {
  readonly [T in keyof typeof VOCABULARY as (typeof VOCABULARY)[T] extends { readonly payload: PayloadShape }
    ? T
    : never]: (typeof VOCABULARY)[T] extends { readonly payload: PayloadShape<infer Payload> } ? Payload : never;
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
