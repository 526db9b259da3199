/**
 * The limits of runs and the workspace files that they read. A revision numbers the changes of a place; a run reads the
 * files of one revision until it ends.
 */
export const runReach = `
ALTER TABLE runs ADD COLUMN usage text;
ALTER TABLE runs ADD COLUMN files_revision bigint;
CREATE INDEX runs_files_revisions ON runs (tenant, mode, coalesce(workspace, ''), files_revision)
  WHERE files_revision IS NOT NULL;
ALTER TABLE workspace_files ADD COLUMN revision bigint NOT NULL DEFAULT 0;
CREATE INDEX workspace_files_revisions ON workspace_files (tenant, workspace, mode, revision);
`;
