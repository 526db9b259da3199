import type { Major } from '@svc/versioning';
import { canonicalEventName } from '@svc/versioning/events';
import { EVENT_TYPES_V1, EVENT_TYPES_V2 } from '@svc/webhook-verify/events';
import { isVendorType, storedType } from '../events/event-types.ts';
import { nearestName } from '../known-options.ts';
import type { WorkflowEngine } from '../ports/engine.ts';
import type { InterruptKind } from '../ports/interrupts.ts';

/** The event types to which a host takes subscriptions. */
export interface SubscribableEvents {
  /** Returns the stored name of a type in the spelling of a major; the reason as `problem` if it is refused. */
  named(major: Major, name: string): { readonly type: string } | { readonly problem: string };
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
    named(major, name) {
      const shown = `"${name.slice(0, 128)}"`;
      if (operational.includes(name)) return { type: name };
      const type = VOCABULARY[major].has(name) ? canonicalEventName(major, name) : undefined;
      if (type === undefined) {
        if (declared?.has(name) === true && isVendorType(name)) return { type: name };
        const meant = nearestName(name.slice(0, 128), [...VOCABULARY[major], ...(declared ?? [])]);
        const advice = meant === undefined ? '' : `: use ${meant}`;
        return { problem: `${shown} is not an event type of major ${major}${advice}` };
      }
      return isSent(type) ? { type } : { problem: `${shown} is an event type that this host never sends` };
    },
  };

  function isSent(type: string): boolean {
    const kinds = KINDS.get(type);
    if (kinds !== undefined) return isAsked(engine, kinds);
    if (NEVER_SENT.has(type)) return false;
    if (declared === undefined || declared.has(type)) return true;
    return BY_KIT.has(type) || (hasRoles && type === 'authorization.decided');
  }
}

const VOCABULARY: Readonly<Record<Major, ReadonlySet<string>>> = { 1: EVENT_TYPES_V1, 2: EVENT_TYPES_V2 };

function declaredType(name: string): string {
  const type = storedType(name) ?? (isVendorType(name) ? name : undefined);
  if (type !== undefined) return type;
  throw new TypeError(
    `engine.events: ${name} is no event type. Name one of the interface, or a vendor's <org>.<name>.`,
  );
}

function isAsked({ interrupts }: Declared, kinds: 'any' | readonly InterruptKind[]): boolean {
  if (interrupts === undefined) return true;
  return kinds === 'any' ? interrupts.length > 0 : kinds.some((kind) => interrupts.includes(kind));
}

/** The types that the kit records for questions, with the kinds of these questions. */
const KINDS: ReadonlyMap<string, 'any' | readonly InterruptKind[]> = new Map<string, 'any' | readonly InterruptKind[]>([
  ...['node.suspended', 'node.resumed', 'interrupt.requested', 'interrupt.resolved'].map(
    (type) => [type, 'any'] as const,
  ),
  ...['requested', 'received', 'granted', 'rejected', 'overridden'].map(
    (name) => [`approval.${name}`, ['approval']] as const,
  ),
  ...['clarification.requested', 'clarification.resolved'].map((type) => [type, ['clarification']] as const),
]);

/** The types that only the kit could record, and that no feature of it records. */
const NEVER_SENT: ReadonlySet<string> = new Set([
  'run.resume-started',
  'run.restored-from-snapshot',
  'run.dead-lettered',
]);

/** The other types that the kit records for every engine. */
const BY_KIT: ReadonlySet<string> = new Set([
  ...['run.started', 'run.completed', 'run.failed', 'run.cancelled', 'run.paused', 'run.resumed'],
  ...['node.cancelled', 'artifact.created', 'workspace.updated', 'cap.breached', 'log.appended'],
]);
