/** The answers of failing receivers, sealed. */
export const capturedAnswers = `
CREATE TABLE captured_answers (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  webhook_id text COLLATE "C" NOT NULL REFERENCES subscriptions (webhook_id) ON DELETE CASCADE,
  delivery_id text COLLATE "C" NOT NULL,
  attempt integer NOT NULL,
  at bigint NOT NULL,
  expires_at bigint NOT NULL,
  sealed bytea NOT NULL
);
CREATE INDEX captured_answers_of ON captured_answers (webhook_id, position);
CREATE INDEX captured_answers_expiring ON captured_answers (expires_at);
`;
