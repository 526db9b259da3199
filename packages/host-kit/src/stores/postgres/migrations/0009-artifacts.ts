/** Artifacts of runs. */
export const artifacts = `
CREATE TABLE artifacts (
  run_id text NOT NULL,
  artifact_id text COLLATE "C" NOT NULL,
  document text NOT NULL,
  PRIMARY KEY (run_id, artifact_id)
);
`;
