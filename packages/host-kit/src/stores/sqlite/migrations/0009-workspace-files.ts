/** Files of workspaces, in versions. An empty workspace is the whole tenant. A version without `etag` is a removal. */
export const workspaceFiles = `
CREATE TABLE workspace_files (
  tenant TEXT NOT NULL,
  workspace TEXT NOT NULL,
  mode TEXT NOT NULL,
  path TEXT NOT NULL,
  version INTEGER NOT NULL,
  newest INTEGER NOT NULL,
  etag TEXT,
  content_type TEXT,
  content BLOB,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, workspace, mode, path, version)
) STRICT;
CREATE UNIQUE INDEX workspace_files_newest ON workspace_files (tenant, workspace, mode, path) WHERE newest = 1;
`;
