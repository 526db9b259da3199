import type { JsonObject } from '../json.ts';
import type { AttemptRecord } from '../ports/attempts.ts';
import type { Announcement } from './announce.ts';
import { GONE } from './outcome.ts';
import { isDelivering } from './status.ts';
import type { StateChange } from './subscription-state.ts';

/**
 * Returns the announcements of a change of state: each transition is announced once.
 *
 * @param attempt the attempt that caused it
 */
export function announcementsOf(change: StateChange, attempt: AttemptRecord | undefined): readonly Announcement[] {
  const { before, after } = change;
  const outage = after.outage ?? before.outage;
  const since: JsonObject = outage === undefined ? {} : { failingSince: new Date(outage.since).toISOString() };
  const told = (name: Announcement['name'], details: JsonObject = {}) => ({
    subject: before,
    name,
    details: { ...since, ...details },
  });
  const isNew = (event: 'failing' | 'dead-lettering') =>
    after.outage?.announced.includes(event) === true && before.outage?.announced.includes(event) !== true;
  return [
    ...(isNew('failing') ? [told('subscription.failing')] : []),
    ...(isNew('dead-lettering') ? [told('subscription.dead-lettering')] : []),
    ...(hasFailed(change) ? [told('subscription.failed', { reason: reasonOf(change, attempt) })] : []),
    ...(hasRecovered(change) ? [told('subscription.recovered')] : []),
  ];
}

function hasFailed({ before, after }: StateChange): boolean {
  return isDelivering(before.status) && !isDelivering(after.status);
}

function hasRecovered({ before, after }: StateChange): boolean {
  return after.outage === undefined && (before.outage?.announced.length ?? 0) > 0;
}

/** `gone`: the receiver answered 410. `failing-too-long`: nothing succeeded. `failing-too-often`: best effort. */
function reasonOf({ before }: StateChange, attempt: AttemptRecord | undefined): string {
  if (attempt?.status === GONE) return 'gone';
  return before.durable ? 'failing-too-long' : 'failing-too-often';
}
