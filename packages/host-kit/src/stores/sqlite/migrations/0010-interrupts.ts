/** Questions of runs, and their answers. */
export const interrupts = `
CREATE TABLE interrupts (
  run_id TEXT NOT NULL,
  interrupt_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  key TEXT NOT NULL,
  document TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'resolved', 'closed')),
  -- While it is pending: when nobody waits for it any more.
  due_at INTEGER,
  votes TEXT NOT NULL,
  resolution TEXT,
  PRIMARY KEY (run_id, interrupt_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX interrupts_keys ON interrupts (run_id, node_id, key);
CREATE INDEX interrupts_due ON interrupts (due_at) WHERE due_at IS NOT NULL;
`;
