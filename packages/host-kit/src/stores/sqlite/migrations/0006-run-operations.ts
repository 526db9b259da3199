/** Pause and cancel requests of runs, and indexes for the lists of runs. */
export const runOperations = `
ALTER TABLE runs ADD COLUMN scope_id TEXT;
-- JSON: the nodes that are under way.
ALTER TABLE runs ADD COLUMN open_nodes TEXT;
ALTER TABLE runs ADD COLUMN current_node_id TEXT;
-- JSON: what somebody asked for, and when.
ALTER TABLE runs ADD COLUMN pause_request TEXT;
ALTER TABLE runs ADD COLUMN paused_at INTEGER;
ALTER TABLE runs ADD COLUMN cancel_request TEXT;

DROP INDEX runs_unfinished;
CREATE INDEX runs_unfinished ON runs (run_id) WHERE status IN ('pending', 'running', 'cancelling');

CREATE INDEX runs_of ON runs (tenant, mode, run_id);
CREATE INDEX runs_in ON runs (tenant, mode, workspace, run_id);
CREATE INDEX runs_active ON runs (scope_id) WHERE scope_id IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled');
`;
