import { LONGEST_STEP_WAIT_MS, type WebhookJobStore } from '../../ports/webhook-jobs.ts';
import { integer } from '../sql/row.ts';
import { jobColumns, jobOf } from '../sql/webhook-jobs.ts';
import type { Database } from './database.ts';

const INSERT = {
  name: 'webhook-jobs-insert',
  text: `INSERT INTO webhook_jobs (job_id, webhook_id, state, next_step_at, updated_at, document)
    SELECT $1, s.webhook_id, $3, $4, $5, $6 FROM subscriptions s WHERE s.webhook_id = $2`,
};
const READ = {
  name: 'webhook-jobs-read',
  text: 'SELECT * FROM webhook_jobs WHERE webhook_id = $1 AND job_id = $2',
};
const LOCKED = { name: 'webhook-jobs-locked', text: 'SELECT * FROM webhook_jobs WHERE job_id = $1 FOR UPDATE' };
const LIST = {
  name: 'webhook-jobs-list',
  text: `SELECT * FROM webhook_jobs WHERE webhook_id = $1 AND ($2::text IS NULL OR job_id < $2)
    ORDER BY job_id DESC LIMIT $3`,
};
// Additions to one subscription wait for each other: otherwise two could both count below the maximum and exceed it together.
const LOCK = {
  name: 'webhook-jobs-lock',
  text: `SELECT pg_advisory_xact_lock(hashtext('svc webhook jobs ' || $1))`,
};
const OPEN = {
  name: 'webhook-jobs-open',
  text: `SELECT count(*) AS open FROM webhook_jobs WHERE webhook_id = $1 AND state IN ('running', 'paused')`,
};
const DUE = {
  name: 'webhook-jobs-due',
  text: `SELECT * FROM webhook_jobs WHERE state = 'running' AND (next_step_at <= $1 OR next_step_at > $3)
    ORDER BY next_step_at LIMIT $2`,
};
const UPDATE = {
  name: 'webhook-jobs-update',
  text: 'UPDATE webhook_jobs SET state = $1, next_step_at = $2, updated_at = $3, document = $4 WHERE job_id = $5',
};
const SWEEP = {
  name: 'webhook-jobs-sweep',
  text: `DELETE FROM webhook_jobs WHERE job_id IN (SELECT job_id FROM webhook_jobs
    WHERE state NOT IN ('running', 'paused') AND updated_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
};

export function webhookJobStore(database: Database): WebhookJobStore {
  return {
    async insert(job, transaction) {
      await database.within(transaction, INSERT, [job.jobId, job.webhookId, ...jobColumns(job)]);
    },
    async read(webhookId, jobId) {
      const [row] = (await database.query(READ, [webhookId, jobId])).rows;
      return row && jobOf(row);
    },
    async list(webhookId, { before, limit }) {
      return (await database.query(LIST, [webhookId, before ?? null, limit])).rows.map(jobOf);
    },
    async countOpen(webhookId, transaction) {
      await database.within(transaction, LOCK, [webhookId]);
      const [row] = (await database.within(transaction, OPEN, [webhookId])).rows;
      return integer(row ?? {}, 'open');
    },
    async due(now, limit) {
      return (await database.query(DUE, [now, limit, now + LONGEST_STEP_WAIT_MS])).rows.map(jobOf);
    },
    async change(jobId, change, transaction) {
      const [row] = (await database.within(transaction, LOCKED, [jobId])).rows;
      const changed = row && change(jobOf(row));
      if (changed !== undefined) await database.within(transaction, UPDATE, [...jobColumns(changed), jobId]);
      return changed;
    },
    async sweep(before, limit) {
      return (await database.query(SWEEP, [before, limit])).count;
    },
  };
}
