/** The run that started a run as its child. `document` has it as well. */
export const childRuns = `
ALTER TABLE runs ADD COLUMN parent_run_id TEXT;
ALTER TABLE runs ADD COLUMN parent_node_id TEXT;
CREATE UNIQUE INDEX runs_by_parent ON runs (parent_run_id, parent_node_id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_open_children ON runs (run_id, parent_run_id)
  WHERE parent_run_id IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled', 'cancelling');
CREATE INDEX runs_waiting_external ON runs (run_id) WHERE status = 'waiting-external';
`;
