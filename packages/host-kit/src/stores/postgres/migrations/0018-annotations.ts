/** Judgements of runs. */
export const annotations = `
CREATE TABLE annotations (
  run_id text COLLATE "C" NOT NULL,
  annotation_id text COLLATE "C" NOT NULL,
  document text NOT NULL,
  PRIMARY KEY (run_id, annotation_id)
);
`;
