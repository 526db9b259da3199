/**
 * Checks `docs/security/threat-model.md` against the requirements and the tests that cite them.
 *
 * `node tools/check-threat-model.mjs` fails on a threat that names no rule, on an id that `docs/requirements.json` does not have or that no
 * test cites, on a package without a section, and on an advisory that is named twice or whose id has another form.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { checkRequirements, readTree } from './check-requirements.mjs';

/**
 * Checks the text of the model.
 *
 * @param {string} text
 * @param {{ known: ReadonlySet<string>, uncited: ReadonlySet<string>, parts: readonly string[] }} project the ids of all rules, those that
 * no test cites, and the headings that the model must have
 * @returns {string[]} one sentence for each problem
 */
export function checkThreatModel(text, { known, uncited, parts }) {
  const rows = rowsIn(text);
  const headings = new Set([...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading.replaceAll('`', '')));
  const problems = parts.filter((part) => !headings.has(part)).map((part) => `There is no section "## ${part}".`);
  if (rows.length === 0) problems.push('There is no table whose last column is "Held by".');
  const advisories = new Set();
  for (const { line, isAdvisory, first, last } of rows) {
    const ids = [...last.matchAll(/`([^`]+)`/g)].map(([, id]) => id);
    if (ids.length === 0 && !/^Not covered: .+\.$/.test(last))
      problems.push(`line ${line}: names no rule. Name one in backticks, or write "Not covered: <reason>."`);
    for (const id of ids) {
      if (!known.has(id)) problems.push(`line ${line}: '${id}' is not in docs/requirements.json.`);
      else if (uncited.has(id)) problems.push(`line ${line}: no test cites '${id}'.`);
    }
    if (!isAdvisory) continue;
    for (const name of first.split(', ')) {
      if (!ADVISORY.test(name)) problems.push(`line ${line}: '${name}' is not the id of an advisory.`);
      if (advisories.has(name)) problems.push(`line ${line}: '${name}' is named twice.`);
      advisories.add(name);
    }
  }
  return problems;
}

const ADVISORY = /^(?:CVE-\d{4}-\d{4,7}|GHSA(?:-[23456789cfghjmpqrvwx]{4}){3})$/;

/** Returns the rows of the tables whose last column is "Held by". */
function rowsIn(text) {
  const rows = [];
  let header;
  for (const [index, line] of text.split('\n').entries()) {
    const cells = line.startsWith('|') ? cellsOf(line) : undefined;
    if (cells === undefined) header = undefined;
    else if (header === undefined) header = cells;
    else if (header.at(-1) === 'Held by' && !/^[-: ]+$/.test(cells[0]))
      rows.push({ line: index + 1, isAdvisory: header[0] === 'Advisory', first: cells[0], last: cells.at(-1) });
  }
  return rows;
}

function cellsOf(line) {
  return line
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim());
}

/**
 * Reads the model and the rules of a checkout.
 *
 * @param {string} root
 * @returns {string[]} one sentence for each problem
 */
export function checkTree(root) {
  const { document, sources } = readTree(root);
  const { uncited } = checkRequirements(document, sources);
  return checkThreatModel(readFileSync(join(root, 'docs/security/threat-model.md'), 'utf8'), {
    known: new Set(document.requirements.map(({ id }) => id)),
    uncited: new Set(uncited),
    parts: [...readdirSync(join(root, 'packages')).map((name) => `@svc/${name}`), 'The reference host'],
  });
}

function main() {
  const problems = checkTree(fileURLToPath(new URL('..', import.meta.url)));
  for (const problem of problems) console.error(`docs/security/threat-model.md: ${problem}`);
  if (problems.length > 0) exit(1);
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main();
