/** Rotation of signing secrets: the fingerprint becomes a column, and the previous secret is stored while both sign. */
export const rotation = `
ALTER TABLE subscriptions ADD COLUMN secret_fingerprint TEXT NOT NULL DEFAULT '';
UPDATE subscriptions SET secret_fingerprint = json_extract(document, '$.secretFingerprint');
ALTER TABLE subscriptions ADD COLUMN previous_sealed_secret BLOB;
ALTER TABLE subscriptions ADD COLUMN previous_replaced_at INTEGER;
ALTER TABLE subscriptions ADD COLUMN previous_expires_at INTEGER;
CREATE INDEX subscriptions_expiring ON subscriptions (previous_expires_at) WHERE previous_expires_at IS NOT NULL;
`;
