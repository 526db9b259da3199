import type { DatabaseSync } from 'node:sqlite';
import { firstReading, LEASE_EXCESS_MS, type SourcePlaceStore } from '../../ports/source-places.ts';
import type { TriggerStore } from '../../ports/triggers.ts';
import { placeOf } from '../sql/source-places.ts';
import { triggerOf } from '../sql/triggers.ts';
import type { Writer } from './writer.ts';

const ACTIVE = `SELECT * FROM triggers WHERE read_source = ? AND trigger_id > ? AND state = 'active' AND removed = 0
  ORDER BY trigger_id LIMIT ?`;
const CLAIM = `INSERT INTO trigger_places (trigger_id, reader, lease_until, cursor, reading) VALUES (?1, ?2, ?3, NULL, ?4)
  ON CONFLICT (trigger_id) DO UPDATE SET reader = ?2, lease_until = ?3
    WHERE reader = ?2 OR lease_until <= ?5 OR lease_until > ?6
  RETURNING *`;
const SAVE = 'UPDATE trigger_places SET cursor = ?3, reading = ?4 WHERE trigger_id = ?1 AND reader = ?2';
const RELEASE = 'UPDATE trigger_places SET lease_until = 0 WHERE trigger_id = ?1 AND reader = ?2';
const PLACE = 'SELECT * FROM trigger_places WHERE trigger_id = ?';

export function sourcePlaceStore(
  reader: DatabaseSync,
  database: DatabaseSync,
  writer: Writer,
): SourcePlaceStore & Pick<TriggerStore, 'activeReadings'> {
  const active = reader.prepare(ACTIVE);
  const place = reader.prepare(PLACE);
  const claim = database.prepare(CLAIM);
  const save = database.prepare(SAVE);
  const release = database.prepare(RELEASE);

  return {
    activeReadings: async ({ source, after, limit }) => active.all(source, after, limit).map(triggerOf),
    claimPlace: ({ triggerId, reader: claimant, leaseUntil, now }) =>
      writer.transaction(async () => {
        const first = JSON.stringify(firstReading(now));
        const row = claim.get(triggerId, claimant, leaseUntil, first, now, leaseUntil + LEASE_EXCESS_MS);
        return row && placeOf(row);
      }),
    async savePlace({ triggerId, reader: claimant, cursor = null, reading }, transaction) {
      writer.require(transaction);
      return save.run(triggerId, claimant, cursor, JSON.stringify(reading)).changes > 0;
    },
    releasePlace: ({ triggerId, reader: claimant }) =>
      writer.transaction(async () => {
        release.run(triggerId, claimant);
      }),
    places: async (triggerIds) =>
      triggerIds.flatMap((triggerId) => {
        const row = place.get(triggerId);
        return row === undefined ? [] : [placeOf(row)];
      }),
  };
}
