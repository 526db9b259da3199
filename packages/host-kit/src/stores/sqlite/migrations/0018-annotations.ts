/** Judgements of runs. */
export const annotations = `
CREATE TABLE annotations (
  run_id TEXT NOT NULL,
  annotation_id TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (run_id, annotation_id)
) STRICT, WITHOUT ROWID;
`;
