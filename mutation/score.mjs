/**
 * Judges the mutants of one file.
 *
 * @param {MutatedFile} file of Stryker's report
 * @param {Floor} floor
 * @returns {FileScore}
 *
 * @typedef {{ mutatorName: string, replacement?: string, status: string, location: { start: Position, end: Position } }} Mutant
 * @typedef {{ line: number, column: number }} Position counted from 1
 * @typedef {{ source: string, mutants: Mutant[] }} MutatedFile
 * @typedef {{ lines: string[], mutants: string[], because: string }} Equivalent mutants that behave as the original
 * @typedef {{ path: string, floor: number, equivalent?: Equivalent[] }} Floor
 * @typedef {{ path: string, mutants: number, killed: number, score: number, survivors: string[], problems: string[] }} FileScore
 */
export function scoreOf({ source, mutants }, { path, floor, equivalent = [] }) {
  const judged = mutants.filter(({ status }) => JUDGED.has(status));
  const alive = judged.filter(({ status }) => !KILLED.has(status)).map((mutant) => described(mutant, source));
  const survivors = alive.filter((mutant) => !equivalent.some((entry) => isOf(mutant, entry)));
  const killed = judged.length - alive.length;
  const counted = killed + survivors.length;
  const score = counted === 0 ? 1 : killed / counted;
  const problems = equivalent.flatMap((entry) => unusedIn(entry, alive)).map((unused) => `${path}: ${unused}`);
  if (counted === 0) problems.push(`${path}: has no mutants. Remove the entry.`);
  if (score < floor) {
    problems.push(`${path}: the score ${rounded(score)} is below the floor ${floor}. Write the missing tests.`);
  }
  const shown = survivors.map(({ number, line, change }) => `${path}:${number} ${line}\n      ${change}`);
  return { path, mutants: counted, killed, score, survivors: shown, problems };
}

function isOf({ line, change }, { lines, mutants }) {
  return lines.includes(line) && mutants.includes(change);
}

/** An entry whose mutant is killed, or whose line was changed, would hide a later survivor. */
function unusedIn(entry, alive) {
  const matched = alive.filter((mutant) => isOf(mutant, entry));
  const lines = entry.lines.filter((line) => !matched.some((mutant) => mutant.line === line));
  const mutants = entry.mutants.filter((change) => !matched.some((mutant) => mutant.change === change));
  return [...lines, ...mutants].map((text) => `no survivor is \`${text}\`. Remove it from the equivalent mutants.`);
}

/** A mutant that keeps its module from loading says nothing about the tests. */
const JUDGED = new Set(['Killed', 'Timeout', 'Survived', 'NoCoverage']);
const KILLED = new Set(['Killed', 'Timeout']);

/** Rounds down, so that a score below its floor is never shown as the floor. */
export function rounded(score) {
  return Math.floor(score * 1000) / 1000;
}

/** Describes a mutant by the text of its line, which stays when lines are added above. */
function described({ location: { start, end }, replacement = '' }, source) {
  const lines = source.split('\n');
  const original = lines
    .slice(start.line - 1, end.line)
    .map((text, index, { length }) =>
      text.slice(index === 0 ? start.column - 1 : 0, index === length - 1 ? end.column - 1 : undefined),
    )
    .join('\n');
  return {
    number: start.line,
    line: (lines[start.line - 1] ?? '').trim(),
    change: `${oneLine(original)} → ${oneLine(replacement)}`,
  };
}

function oneLine(text) {
  return text.replace(/\s+/g, ' ').trim();
}
