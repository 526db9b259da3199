/** Long operations on the deliveries of a subscription. */
export const webhookJobs = `
CREATE TABLE webhook_jobs (
  job_id TEXT PRIMARY KEY,
  webhook_id TEXT NOT NULL REFERENCES subscriptions (webhook_id) ON DELETE CASCADE,
  state TEXT NOT NULL,
  next_step_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  document TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_jobs_of ON webhook_jobs (webhook_id, job_id);
CREATE INDEX webhook_jobs_due ON webhook_jobs (next_step_at) WHERE state = 'running';
`;
