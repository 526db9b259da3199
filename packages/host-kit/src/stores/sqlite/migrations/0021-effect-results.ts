/**
 * Stores the result of an effect apart from its other facts, so that the ledger of a run is read without results. A
 * former document has its result as the last member, and no string in JSON contains the searched text unescaped.
 */
export const effectResults = `
ALTER TABLE effects RENAME COLUMN document TO facts;
ALTER TABLE effects ADD COLUMN result TEXT;
UPDATE effects SET
  result = substr(facts, instr(facts, ',"result":') + 10, length(facts) - instr(facts, ',"result":') - 10),
  facts = substr(facts, 1, instr(facts, ',"result":') - 1) || '}'
WHERE instr(facts, ',"result":') > 0;
`;
