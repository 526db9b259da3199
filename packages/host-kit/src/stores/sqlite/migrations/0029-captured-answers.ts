/** The answers of failing receivers, sealed. */
export const capturedAnswers = `
CREATE TABLE captured_answers (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id TEXT NOT NULL REFERENCES subscriptions (webhook_id) ON DELETE CASCADE,
  delivery_id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  sealed BLOB NOT NULL
) STRICT;
CREATE INDEX captured_answers_of ON captured_answers (webhook_id, position);
CREATE INDEX captured_answers_expiring ON captured_answers (expires_at);
`;
