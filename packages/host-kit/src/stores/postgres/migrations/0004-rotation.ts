/** Rotation of signing secrets: the fingerprint becomes a column, and the previous secret is stored while both sign. */
export const rotation = `
ALTER TABLE subscriptions
  ADD COLUMN secret_fingerprint text NOT NULL DEFAULT '',
  ADD COLUMN previous_sealed_secret bytea,
  ADD COLUMN previous_replaced_at bigint,
  ADD COLUMN previous_expires_at bigint;
-- Not by a function for JSON, which does not take every text. In a string of the document the quotes would be escaped.
UPDATE subscriptions SET secret_fingerprint = substring(document from '"secretFingerprint":"([0-9a-f]{8})"');
CREATE INDEX subscriptions_expiring ON subscriptions (previous_expires_at) WHERE previous_expires_at IS NOT NULL;
`;
