/** Artifacts of runs. */
export const artifacts = `
CREATE TABLE artifacts (
  run_id TEXT NOT NULL,
  artifact_id TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (run_id, artifact_id)
) STRICT, WITHOUT ROWID;
`;
