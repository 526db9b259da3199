import type { DatabaseSync } from 'node:sqlite';
import type { OpenedSecretStore } from '../../ports/opened-secrets.ts';
import { openedSecretOf } from '../sql/opened-secrets.ts';
import type { Writer } from './writer.ts';

const ADD = 'INSERT INTO opened_secrets (run_id, number, name, sealed) VALUES (?, ?, ?, ?)';
const LIST = 'SELECT * FROM opened_secrets WHERE run_id = ? ORDER BY number';
const REMOVE = 'DELETE FROM opened_secrets WHERE run_id = ?';
const PAGE = 'SELECT * FROM opened_secrets WHERE (run_id, number) > (?, ?) ORDER BY run_id, number LIMIT ?';
const RESEAL = 'UPDATE opened_secrets SET sealed = ? WHERE run_id = ? AND number = ?';

export function openedSecretStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): OpenedSecretStore {
  const add = database.prepare(ADD);
  const remove = database.prepare(REMOVE);
  const reseal = database.prepare(RESEAL);
  const list = reader.prepare(LIST);
  const page = reader.prepare(PAGE);

  return {
    async add({ runId, number, name, sealed }, transaction) {
      writer.require(transaction);
      add.run(runId, number, name, sealed);
    },
    list: async (runId) => list.all(runId).map(openedSecretOf),
    async remove(runId, transaction) {
      writer.require(transaction);
      remove.run(runId);
    },
    page: async ({ after, limit }) => page.all(after?.runId ?? '', after?.number ?? -1, limit).map(openedSecretOf),
    async reseal({ runId, number }, sealed, transaction) {
      writer.require(transaction);
      reseal.run(sealed, runId, number);
    },
  };
}
