/** The compensation of a run, as JSON. Null for a run of an engine that does not compensate. */
export const compensation = `
ALTER TABLE runs ADD COLUMN compensation text;
`;
