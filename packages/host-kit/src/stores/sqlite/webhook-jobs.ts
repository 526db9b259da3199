import type { DatabaseSync } from 'node:sqlite';
import { LONGEST_STEP_WAIT_MS, type WebhookJobStore } from '../../ports/webhook-jobs.ts';
import { integer } from '../sql/row.ts';
import { jobColumns, jobOf } from '../sql/webhook-jobs.ts';
import type { Writer } from './writer.ts';

const INSERT = `INSERT INTO webhook_jobs (job_id, webhook_id, state, next_step_at, updated_at, document)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM subscriptions WHERE webhook_id = ?2)`;
const READ = 'SELECT * FROM webhook_jobs WHERE job_id = ?';
const LIST = `SELECT * FROM webhook_jobs WHERE webhook_id = ? AND (?2 IS NULL OR job_id < ?2)
  ORDER BY job_id DESC LIMIT ?`;
const OPEN = `SELECT count(*) AS open FROM webhook_jobs WHERE webhook_id = ? AND state IN ('running', 'paused')`;
const DUE = `SELECT * FROM webhook_jobs WHERE state = 'running' AND (next_step_at <= ? OR next_step_at > ?)
  ORDER BY next_step_at LIMIT ?`;
const UPDATE = `UPDATE webhook_jobs SET state = ?, next_step_at = ?, updated_at = ?, document = ? WHERE job_id = ?`;
const SWEEP = `DELETE FROM webhook_jobs WHERE job_id IN
  (SELECT job_id FROM webhook_jobs WHERE state NOT IN ('running', 'paused') AND updated_at < ? LIMIT ?)`;

export function webhookJobStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): WebhookJobStore {
  const insert = database.prepare(INSERT);
  const current = database.prepare(READ);
  const open = database.prepare(OPEN);
  const update = database.prepare(UPDATE);
  const sweep = database.prepare(SWEEP);
  const read = reader.prepare(READ);
  const list = reader.prepare(LIST);
  const due = reader.prepare(DUE);

  return {
    async insert(job, transaction) {
      writer.require(transaction);
      insert.run(job.jobId, job.webhookId, ...jobColumns(job));
    },
    async read(webhookId, jobId) {
      const row = read.get(jobId);
      return row?.webhook_id === webhookId ? jobOf(row) : undefined;
    },
    list: async (webhookId, { before, limit }) => list.all(webhookId, before ?? null, limit).map(jobOf),
    async countOpen(webhookId, transaction) {
      writer.require(transaction);
      return integer(open.get(webhookId) ?? {}, 'open');
    },
    due: async (now, limit) => due.all(now, now + LONGEST_STEP_WAIT_MS, limit).map(jobOf),
    async change(jobId, change, transaction) {
      writer.require(transaction);
      const row = current.get(jobId);
      const changed = row && change(jobOf(row));
      if (changed !== undefined) update.run(...jobColumns(changed), jobId);
      return changed;
    },
    sweep: (before, limit) => writer.transaction(async () => Number(sweep.run(before, limit).changes)),
  };
}
