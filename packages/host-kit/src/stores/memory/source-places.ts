import { firstReading, LEASE_EXCESS_MS, type SourcePlace, type SourcePlaceStore } from '../../ports/source-places.ts';
import type { Trigger, TriggerStore } from '../../ports/triggers.ts';
import { type Journal, put } from './journal.ts';

export function sourcePlaceStore(
  journal: Journal,
  triggers: ReadonlyMap<string, Trigger>,
  places: Map<string, SourcePlace>,
): SourcePlaceStore & Pick<TriggerStore, 'activeReadings'> {
  return {
    activeReadings: async ({ source, after, limit }) =>
      [...triggers.values()]
        .filter((trigger) => trigger.source === source && trigger.state === 'active' && trigger.triggerId > after)
        .sort((a, b) => (a.triggerId < b.triggerId ? -1 : 1))
        .slice(0, limit),
    claimPlace: ({ triggerId, reader, leaseUntil, now }) =>
      journal.transaction(async (transaction) => {
        const found = places.get(triggerId) ?? { triggerId, reader, leaseUntil, reading: firstReading(now) };
        const isFree = found.leaseUntil <= now || found.leaseUntil > leaseUntil + LEASE_EXCESS_MS;
        if (found.reader !== reader && !isFree) return undefined;
        const claimed = { ...found, reader, leaseUntil };
        put(journal, transaction, places, triggerId, claimed);
        return claimed;
      }),
    async savePlace(place, transaction) {
      const found = places.get(place.triggerId);
      if (found?.reader !== place.reader) return false;
      put(journal, transaction, places, place.triggerId, { ...place, leaseUntil: found.leaseUntil });
      return true;
    },
    releasePlace: ({ triggerId, reader }) =>
      journal.transaction(async (transaction) => {
        const found = places.get(triggerId);
        if (found?.reader === reader) put(journal, transaction, places, triggerId, { ...found, leaseUntil: 0 });
      }),
    places: async (triggerIds) =>
      triggerIds.flatMap((triggerId) => {
        const place = places.get(triggerId);
        return place === undefined ? [] : [place];
      }),
  };
}
