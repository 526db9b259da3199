import type { DatabaseSync } from 'node:sqlite';
import type { InterruptStore } from '../../ports/interrupts.ts';
import { BEFORE_ALL, interruptDocumentOf, interruptOf, interruptStateOf } from '../sql/interrupts.ts';
import type { Writer } from './writer.ts';

const INSERT = `INSERT INTO interrupts (run_id, interrupt_id, node_id, key, document, status, due_at, votes, resolution)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const UPDATE = `UPDATE interrupts SET status = ?, due_at = ?, votes = ?, resolution = ?
  WHERE run_id = ? AND interrupt_id = ?`;
const BY_ID = 'SELECT * FROM interrupts WHERE run_id = ? AND interrupt_id = ?';
const BY_KEY = 'SELECT * FROM interrupts WHERE run_id = ? AND node_id = ? AND key = ?';
const OF_NODE = 'SELECT * FROM interrupts WHERE run_id = ? AND node_id = ? ORDER BY interrupt_id DESC LIMIT 1';
const PENDING_OF = `SELECT * FROM interrupts WHERE run_id = ? AND status = 'pending'`;
const DUE = `SELECT * FROM interrupts WHERE due_at <= ? AND due_at >= ? AND (due_at, run_id, interrupt_id) > (?, ?, ?)
  ORDER BY due_at, run_id, interrupt_id LIMIT ?`;

export function interruptStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): InterruptStore {
  const insert = database.prepare(INSERT);
  const update = database.prepare(UPDATE);
  const byId = database.prepare(BY_ID);
  const byKey = database.prepare(BY_KEY);
  const ofNode = database.prepare(OF_NODE);
  const pendingOf = database.prepare(PENDING_OF);
  const due = reader.prepare(DUE);

  return {
    async insert(interrupt, transaction) {
      writer.require(transaction);
      const { runId, interruptId, nodeId, key } = interrupt;
      insert.run(runId, interruptId, nodeId, key, interruptDocumentOf(interrupt), ...interruptStateOf(interrupt));
    },
    async update(interrupt, transaction) {
      writer.require(transaction);
      update.run(...interruptStateOf(interrupt), interrupt.runId, interrupt.interruptId);
    },
    async byId(runId, interruptId, transaction) {
      writer.require(transaction);
      const row = byId.get(runId, interruptId);
      return row === undefined ? undefined : interruptOf(row);
    },
    async byKey(runId, nodeId, key, transaction) {
      writer.require(transaction);
      const row = byKey.get(runId, nodeId, key);
      return row === undefined ? undefined : interruptOf(row);
    },
    async ofNode(runId, nodeId, transaction) {
      writer.require(transaction);
      const row = ofNode.get(runId, nodeId);
      return row === undefined ? undefined : interruptOf(row);
    },
    async pendingOf(runId, transaction) {
      writer.require(transaction);
      return pendingOf.all(runId).map(interruptOf);
    },
    async due(now, limit, after = BEFORE_ALL) {
      return due.all(now, after.dueAt, after.dueAt, after.runId, after.interruptId, limit).map(interruptOf);
    },
  };
}
