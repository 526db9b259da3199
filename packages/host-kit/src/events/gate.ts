import type { Json } from '../json.ts';
import { EVENT_TYPES, isVendorType, nearestType, storedType } from './event-types.ts';
import type { PayloadProblem } from './shape.ts';

/** The parts of an event that the vocabulary has rules for. */
interface Named {
  readonly type: string;
  readonly payload: Json;
  readonly nodeId?: string;
}

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
    const name = String(type).slice(0, LONGEST_SHOWN);
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

const LONGEST_SHOWN = 128;
