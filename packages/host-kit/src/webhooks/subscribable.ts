import type { Major } from '@svc/versioning';
import { EVENT_TYPES_IN, type EventType, isVendorType, storedType } from '../events/event-types.ts';
import type { Recorder } from '../events/vocabulary/event-entry.ts';
import { nearestName } from '../known-options.ts';
import type { WorkflowEngine } from '../ports/engine.ts';
import type { InterruptKind } from '../ports/interrupts.ts';

/** The event types to which a host takes subscriptions. */
export interface SubscribableEvents {
  /** Returns the stored name of a type in the spelling of a major; the reason as `problem` if it is refused. */
  named(major: Major, name: string): { readonly type: string } | { readonly problem: string };
  /** The vendors' types that the engine declares. They are spelt alike in both majors. */
  readonly vendorTypes: readonly string[];
}

type Declared = Pick<WorkflowEngine, 'events' | 'interrupts'>;

/**
 * Makes the list of event types to which a host takes subscriptions: those that its kit records, and those that its
 * engine may append. A subscription to any other type would wait for ever, so it is refused.
 *
 * @param hasRoles whether the host authorizes by roles, and records the decisions
 * @param operational the types of the events about subscriptions, which are spelt alike in both majors
 * @throws {TypeError} when the engine declares a name that is no event type
 */
export function subscribableEvents(
  engine: Declared,
  hasRoles = false,
  operational: readonly string[] = [],
): SubscribableEvents {
  const declared = engine.events && new Set(engine.events.map(declaredType));
  return {
    vendorTypes: [...(declared ?? [])].filter(isVendorType),
    named(major, name) {
      const shown = `"${name.slice(0, 128)}"`;
      if (operational.includes(name)) return { type: name };
      const known = EVENT_TYPES_IN[major].get(name);
      if (known === undefined) {
        if (declared?.has(name) === true && isVendorType(name)) return { type: name };
        const meant = nearestName(name.slice(0, 128), [...EVENT_TYPES_IN[major].keys(), ...(declared ?? [])]);
        const advice = meant === undefined ? '' : `: use ${meant}`;
        return { problem: `${shown} is not an event type of major ${major}${advice}` };
      }
      if (isSent(known)) return { type: known.type };
      return { problem: `${shown} is an event type that this host never sends` };
    },
  };

  function isSent({ type, recordedBy }: EventType): boolean {
    if (typeof recordedBy === 'object') return asks(engine, recordedBy.questions);
    if (recordedBy === 'never') return false;
    if (declared === undefined || declared.has(type)) return true;
    return FOR_EVERY_ENGINE.has(recordedBy) || (hasRoles && recordedBy === 'roles-and-engine');
  }
}

const FOR_EVERY_ENGINE: ReadonlySet<Recorder> = new Set(['kit', 'kit-and-engine']);

function declaredType(name: string): string {
  const type = storedType(name) ?? (isVendorType(name) ? name : undefined);
  if (type !== undefined) return type;
  throw new TypeError(
    `engine.events: ${name} is no event type. Name one of the interface, or a vendor's <org>.<name>.`,
  );
}

function asks({ interrupts }: Declared, kind: 'any' | InterruptKind): boolean {
  if (interrupts === undefined) return true;
  return kind === 'any' ? interrupts.length > 0 : interrupts.includes(kind);
}
