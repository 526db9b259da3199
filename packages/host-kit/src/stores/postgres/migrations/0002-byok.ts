/** Secrets of tenants (bring your own key), encrypted. An empty workspace is the whole tenant. */
export const byok = `
CREATE TABLE byok_secrets (
  tenant text COLLATE "C" NOT NULL,
  workspace text COLLATE "C" NOT NULL,
  mode text NOT NULL,
  name text COLLATE "C" NOT NULL,
  sealed bytea NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (tenant, workspace, mode, name)
);
`;
