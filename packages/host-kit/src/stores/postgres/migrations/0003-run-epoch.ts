/** `epoch` counts the changes of a run's holder, so that a former holder appends nothing more. */
export const runEpoch = `
ALTER TABLE runs ADD COLUMN epoch bigint NOT NULL DEFAULT 0;
`;
