/**
 * Stores the result of an effect apart from its other facts, so that the ledger of a run is read without results.
 *
 * A former document has its result as the last member, and no string in JSON contains the searched text unescaped. The
 * column is renamed so that a host of the former version, which is still running, fails on effects and leaves its runs
 * to the others: it would otherwise take a completed effect for one without a result.
 */
export const effectResults = `
ALTER TABLE effects RENAME COLUMN document TO facts;
ALTER TABLE effects ADD COLUMN result text;
UPDATE effects SET
  result = substr(facts, position(',"result":' in facts) + 10, length(facts) - position(',"result":' in facts) - 10),
  facts = substr(facts, 1, position(',"result":' in facts) - 1) || '}'
WHERE position(',"result":' in facts) > 0;
`;
