/** The conversation that a run is a turn of. Runs outside of conversations are not in the index. */
export const conversations = `
ALTER TABLE runs ADD COLUMN conversation text;
CREATE INDEX runs_of_conversation ON runs (tenant, mode, conversation, run_id) WHERE conversation IS NOT NULL;
`;
