/** The ledger of effects, and the runs that asked for each effect. */
export const effects = `
CREATE TABLE effects (
  effect_id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  document TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX effects_at ON effects (at);
CREATE TABLE effect_uses (
  run_id TEXT NOT NULL,
  effect_id TEXT NOT NULL REFERENCES effects (effect_id) ON DELETE CASCADE,
  node_id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (run_id, effect_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX effect_uses_of ON effect_uses (effect_id);
`;
