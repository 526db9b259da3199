import type { DatabaseSync } from 'node:sqlite';
import type { SealingKeyStore } from '../../ports/sealing-keys.ts';
import { text } from '../sql/row.ts';
import type { Writer } from './writer.ts';

export function sealingKeyStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): SealingKeyStore {
  const list = reader.prepare('SELECT key_id FROM sealing_keys');
  const add = database.prepare('INSERT INTO sealing_keys VALUES (?) ON CONFLICT DO NOTHING');
  const remove = database.prepare('DELETE FROM sealing_keys WHERE key_id = ?');

  return {
    list: async () => list.all().map((row) => text(row, 'key_id')),
    add: (keyIds) =>
      writer.transaction(async () => {
        for (const keyId of keyIds) add.run(keyId);
      }),
    remove: (keyIds) =>
      writer.transaction(async () => {
        for (const keyId of keyIds) remove.run(keyId);
      }),
  };
}
