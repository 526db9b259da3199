/** The ledger of effects, and the runs that asked for each effect. */
export const effects = `
CREATE TABLE effects (
  effect_id text COLLATE "C" PRIMARY KEY,
  at bigint NOT NULL,
  document text NOT NULL
);
CREATE INDEX effects_at ON effects (at);
CREATE TABLE effect_uses (
  run_id text COLLATE "C" NOT NULL,
  effect_id text COLLATE "C" NOT NULL REFERENCES effects (effect_id) ON DELETE CASCADE,
  node_id text NOT NULL,
  attempt bigint NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (run_id, effect_id)
);
CREATE INDEX effect_uses_of ON effect_uses (effect_id);
`;
