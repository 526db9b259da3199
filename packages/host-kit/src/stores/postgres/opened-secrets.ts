import type { OpenedSecretStore } from '../../ports/opened-secrets.ts';
import { openedSecretOf } from '../sql/opened-secrets.ts';
import type { Database } from './database.ts';

const ADD = {
  name: 'opened-secrets-add',
  text: 'INSERT INTO opened_secrets (run_id, number, name, sealed) VALUES ($1, $2, $3, $4)',
};
const LIST = { name: 'opened-secrets-list', text: 'SELECT * FROM opened_secrets WHERE run_id = $1 ORDER BY number' };
const REMOVE = { name: 'opened-secrets-remove', text: 'DELETE FROM opened_secrets WHERE run_id = $1' };
const PAGE = {
  name: 'opened-secrets-page',
  text: 'SELECT * FROM opened_secrets WHERE (run_id, number) > ($1, $2) ORDER BY run_id, number LIMIT $3',
};
const RESEAL = {
  name: 'opened-secrets-reseal',
  text: 'UPDATE opened_secrets SET sealed = $1 WHERE run_id = $2 AND number = $3',
};

export function openedSecretStore(database: Database): OpenedSecretStore {
  return {
    async add({ runId, number, name, sealed }, transaction) {
      await database.within(transaction, ADD, [runId, number, name, Buffer.from(sealed)]);
    },
    async list(runId) {
      return (await database.query(LIST, [runId])).rows.map(openedSecretOf);
    },
    async remove(runId, transaction) {
      await database.within(transaction, REMOVE, [runId]);
    },
    async page({ after, limit }) {
      const from = [after?.runId ?? '', after?.number ?? -1];
      return (await database.query(PAGE, [...from, limit])).rows.map(openedSecretOf);
    },
    async reseal({ runId, number }, sealed, transaction) {
      await database.within(transaction, RESEAL, [Buffer.from(sealed), runId, number]);
    },
  };
}
