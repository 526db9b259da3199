/** Long operations on the deliveries of a subscription. */
export const webhookJobs = `
CREATE TABLE webhook_jobs (
  job_id text COLLATE "C" PRIMARY KEY,
  webhook_id text COLLATE "C" NOT NULL REFERENCES subscriptions (webhook_id) ON DELETE CASCADE,
  state text NOT NULL,
  next_step_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  document text NOT NULL
);
CREATE INDEX webhook_jobs_of ON webhook_jobs (webhook_id, job_id);
CREATE INDEX webhook_jobs_due ON webhook_jobs (next_step_at) WHERE state = 'running';
`;
