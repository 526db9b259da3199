import { asJson } from '../as-json.ts';
import type { Json } from '../json.ts';
import { EVENT_TYPES, isVendorType, nearestType, storedType } from './event-types.ts';
import { nodeId as nodeIdShape } from './members.ts';
import { type PayloadProblem, text } from './shape.ts';

/** The parts of an event that the vocabulary has rules for. */
interface Named {
  readonly type: string;
  readonly payload: Json;
  readonly nodeId?: string;
  readonly causationId?: string;
}

/**
 * Holds an event of code that is not the kit's to what is stored: its envelope, its payload as JSON, and the vocabulary.
 *
 * @returns a copy of the event under the name of major 2
 * @throws {TypeError} for a malformed node id or causation id, a payload that is no JSON, and as `held`
 * @see Interface: Events
 */
export function judged<E extends Named>(event: E): E {
  const { type, nodeId, causationId, payload } = event;
  if (nodeId !== undefined && nodeIdShape.problem(nodeId) !== undefined) {
    throw new TypeError(`${shown(type)}: nodeId must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ : -. Change it.`);
  }
  if (causationId !== undefined && causationIdShape.problem(causationId) !== undefined) {
    throw new TypeError(`${shown(type)}: causationId must be text of 1 to 512 characters. Pass the id of the cause.`);
  }
  return held({ ...event, payload: asJson(`${shown(type)}: payload`, payload) });
}

const causationIdShape = text({ minLength: 1, maxLength: 512 });

/**
 * Holds an event to the vocabulary before it is stored.
 *
 * @returns the event under the name of major 2
 * @throws {TypeError} for a type that neither major and no vendor has, and for a payload that breaks a rule of its type
 * @see Interface: Events
 */
export function held<E extends Named>(event: E): E {
  const type = storedType(event.type);
  if (type === undefined) return heldVendor(event);
  const rules = EVENT_TYPES.get(type);
  const problem = (rules?.stored ?? rules?.payload)?.problem(event.payload);
  if (problem !== undefined) throw refused(event.type, problem);
  return type === event.type ? event : { ...event, type };
}

/** A vendor's event has a payload of the vendor's own form. */
function heldVendor<E extends Named>(event: E): E {
  const { type, payload } = event;
  if (typeof type !== 'string' || !isVendorType(type)) {
    const name = shown(type);
    throw new TypeError(
      `${name}: is no event type. The nearest is ${nearestType(name)}; name an event of your own <org>.<name>.`,
    );
  }
  if (payload === undefined) throw refused(type, { path: [], rule: 'is missing' });
  return event;
}

function refused(type: string, { path, rule }: PayloadProblem): TypeError {
  return new TypeError(`${type}: ${['payload', ...path].join('.').slice(0, LONGEST_SHOWN)} ${rule}.`);
}

function shown(type: unknown): string {
  return String(type).slice(0, LONGEST_SHOWN);
}

const LONGEST_SHOWN = 128;
