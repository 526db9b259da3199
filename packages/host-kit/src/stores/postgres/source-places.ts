import { firstReading, LEASE_EXCESS_MS, type SourcePlaceStore } from '../../ports/source-places.ts';
import type { TriggerStore } from '../../ports/triggers.ts';
import { placeOf } from '../sql/source-places.ts';
import { triggerOf } from '../sql/triggers.ts';
import type { Database } from './database.ts';

const ACTIVE = {
  name: 'trigger-places-active',
  text: `SELECT * FROM triggers WHERE read_source = $1 AND trigger_id > $2 AND state = 'active' AND NOT removed
    ORDER BY trigger_id LIMIT $3`,
};
// Waits for a transaction that saves the place.
const CLAIM = {
  name: 'trigger-places-claim',
  text: `INSERT INTO trigger_places AS p (trigger_id, reader, lease_until, cursor, reading) VALUES ($1, $2, $3, NULL, $4)
    ON CONFLICT (trigger_id) DO UPDATE SET reader = $2, lease_until = $3
      WHERE p.reader = $2 OR p.lease_until <= $5 OR p.lease_until > $6
    RETURNING *`,
};
const SAVE = {
  name: 'trigger-places-save',
  text: 'UPDATE trigger_places SET cursor = $3, reading = $4 WHERE trigger_id = $1 AND reader = $2',
};
const RELEASE = {
  name: 'trigger-places-release',
  text: 'UPDATE trigger_places SET lease_until = 0 WHERE trigger_id = $1 AND reader = $2',
};
const PLACES = { name: 'trigger-places-read', text: 'SELECT * FROM trigger_places WHERE trigger_id = ANY($1)' };

export function sourcePlaceStore(database: Database): SourcePlaceStore & Pick<TriggerStore, 'activeReadings'> {
  return {
    async activeReadings({ source, after, limit }) {
      return (await database.query(ACTIVE, [source, after, limit])).rows.map(triggerOf);
    },
    async claimPlace({ triggerId, reader, leaseUntil, now }) {
      const first = JSON.stringify(firstReading(now));
      const values = [triggerId, reader, leaseUntil, first, now, leaseUntil + LEASE_EXCESS_MS];
      const [row] = (await database.query(CLAIM, values)).rows;
      return row && placeOf(row);
    },
    async savePlace({ triggerId, reader, cursor = null, reading }, transaction) {
      const values = [triggerId, reader, cursor, JSON.stringify(reading)];
      return (await database.within(transaction, SAVE, values)).count > 0;
    },
    async releasePlace({ triggerId, reader }) {
      await database.query(RELEASE, [triggerId, reader]);
    },
    async places(triggerIds) {
      return (await database.query(PLACES, [triggerIds])).rows.map(placeOf);
    },
  };
}
