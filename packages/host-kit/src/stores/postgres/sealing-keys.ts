import type { SealingKeyStore } from '../../ports/sealing-keys.ts';
import { text } from '../sql/row.ts';
import type { Database } from './database.ts';

const LIST = { name: 'sealing-keys-list', text: 'SELECT key_id FROM sealing_keys' };
const ADD = {
  name: 'sealing-keys-add',
  text: 'INSERT INTO sealing_keys SELECT DISTINCT unnest($1::text[]) ON CONFLICT DO NOTHING',
};
const REMOVE = { name: 'sealing-keys-remove', text: 'DELETE FROM sealing_keys WHERE key_id = ANY ($1::text[])' };

export function sealingKeyStore(database: Database): SealingKeyStore {
  return {
    list: async () => (await database.query(LIST, [])).rows.map((row) => text(row, 'key_id')),
    async add(keyIds) {
      await database.query(ADD, [keyIds]);
    },
    async remove(keyIds) {
      await database.query(REMOVE, [keyIds]);
    },
  };
}
