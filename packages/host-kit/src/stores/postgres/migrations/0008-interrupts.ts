/** Questions of runs, and their answers. */
export const interrupts = `
CREATE TABLE interrupts (
  run_id text NOT NULL,
  interrupt_id text COLLATE "C" NOT NULL,
  node_id text NOT NULL,
  key text NOT NULL,
  document text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'resolved', 'closed')),
  -- While it is pending: when nobody waits for it any more.
  due_at bigint,
  votes text NOT NULL,
  resolution text,
  PRIMARY KEY (run_id, interrupt_id)
);

CREATE UNIQUE INDEX interrupts_keys ON interrupts (run_id, node_id, key);
CREATE INDEX interrupts_due ON interrupts (due_at) WHERE due_at IS NOT NULL;
`;
