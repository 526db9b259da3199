/** Files of workspaces, in versions. An empty workspace is the whole tenant. A version without `etag` is a removal. */
export const workspaceFiles = `
CREATE TABLE workspace_files (
  tenant text COLLATE "C" NOT NULL,
  workspace text COLLATE "C" NOT NULL,
  mode text NOT NULL,
  path text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  newest boolean NOT NULL,
  etag text,
  content_type text,
  content bytea,
  updated_at bigint NOT NULL,
  PRIMARY KEY (tenant, workspace, mode, path, version)
);
CREATE UNIQUE INDEX workspace_files_newest ON workspace_files (tenant, workspace, mode, path) WHERE newest;
`;
