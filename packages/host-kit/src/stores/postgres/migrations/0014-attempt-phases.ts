/** Attempts have phases. */
export const attemptPhases = `
ALTER TABLE attempts ADD COLUMN phases text;
`;
