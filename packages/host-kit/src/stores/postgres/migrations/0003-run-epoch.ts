/** How often a run has changed hands, so that a host that lost it appends nothing more. */
export const runEpoch = `
ALTER TABLE runs ADD COLUMN epoch bigint NOT NULL DEFAULT 0;
`;
