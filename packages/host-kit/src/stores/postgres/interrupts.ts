import type { InterruptStore } from '../../ports/interrupts.ts';
import { BEFORE_ALL, interruptDocumentOf, interruptOf, interruptStateOf } from '../sql/interrupts.ts';
import type { Row } from '../sql/row.ts';
import type { Database } from './database.ts';

const INSERT = {
  name: 'interrupts-insert',
  text: `INSERT INTO interrupts (run_id, interrupt_id, node_id, key, document, status, due_at, votes, resolution)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
};
const UPDATE = {
  name: 'interrupts-update',
  text: `UPDATE interrupts SET status = $3, due_at = $4, votes = $5, resolution = $6
    WHERE run_id = $1 AND interrupt_id = $2`,
};
const BY_ID = {
  name: 'interrupts-by-id',
  text: 'SELECT * FROM interrupts WHERE run_id = $1 AND interrupt_id = $2',
};
const BY_KEY = {
  name: 'interrupts-by-key',
  text: 'SELECT * FROM interrupts WHERE run_id = $1 AND node_id = $2 AND key = $3',
};
const OF_NODE = {
  name: 'interrupts-of-node',
  text: 'SELECT * FROM interrupts WHERE run_id = $1 AND node_id = $2 ORDER BY interrupt_id DESC LIMIT 1',
};
const PENDING_OF = {
  name: 'interrupts-pending-of',
  text: `SELECT * FROM interrupts WHERE run_id = $1 AND status = 'pending'`,
};
const DUE = {
  name: 'interrupts-due',
  text: `SELECT * FROM interrupts
    WHERE due_at <= $1 AND due_at >= $2 AND (due_at, run_id, interrupt_id) > ($2, $3, $4)
    ORDER BY due_at, run_id, interrupt_id LIMIT $5`,
};

export function interruptStore(database: Database): InterruptStore {
  return {
    async insert(interrupt, transaction) {
      const { runId, interruptId, nodeId, key } = interrupt;
      const values = [runId, interruptId, nodeId, key, interruptDocumentOf(interrupt), ...interruptStateOf(interrupt)];
      await database.within(transaction, INSERT, values);
    },
    async update(interrupt, transaction) {
      const values = [interrupt.runId, interrupt.interruptId, ...interruptStateOf(interrupt)];
      await database.within(transaction, UPDATE, values);
    },
    async byId(runId, interruptId, transaction) {
      return first((await database.within(transaction, BY_ID, [runId, interruptId])).rows);
    },
    async byKey(runId, nodeId, key, transaction) {
      return first((await database.within(transaction, BY_KEY, [runId, nodeId, key])).rows);
    },
    async ofNode(runId, nodeId, transaction) {
      return first((await database.within(transaction, OF_NODE, [runId, nodeId])).rows);
    },
    async pendingOf(runId, transaction) {
      return (await database.within(transaction, PENDING_OF, [runId])).rows.map(interruptOf);
    },
    async due(now, limit, { dueAt, runId, interruptId } = BEFORE_ALL) {
      return (await database.query(DUE, [now, dueAt, runId, interruptId, limit])).rows.map(interruptOf);
    },
  };
}

function first([row]: readonly Row[]) {
  return row === undefined ? undefined : interruptOf(row);
}
