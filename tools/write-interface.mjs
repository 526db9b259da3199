/**
 * Writes the rules of `docs/requirements.json` into `docs/interface.md`, by section: `node tools/write-interface.mjs`, a part of
 * `npm run generate`. `--check` writes nothing, and fails on an outdated page.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';

/** The page with the rules. */
export const PAGE = 'docs/interface.md';

/**
 * Formats rules as tables. A section `Events: Filters` is the heading `Filters` below the heading `Events`.
 *
 * @param {readonly { id: string, section: string, source: string, level: string, sentence: string }[]} requirements
 */
export function rulesOf(requirements) {
  const tops = Map.groupBy(requirements, ({ section }) => partsOf(section)[0]);
  return [...tops].flatMap(([top, rules]) => [`## ${top}`, ...sectionsOf(rules)]).join('\n\n');
}

/** The rules of the heading itself come first, and then those of each heading below it. */
function sectionsOf(rules) {
  const below = Map.groupBy(rules, ({ section }) => partsOf(section)[1] ?? '');
  const names = [...below.keys()].sort((one, other) => Number(one !== '') - Number(other !== ''));
  return names.flatMap((name) => [...(name === '' ? [] : [`### ${name}`]), tableOf(below.get(name))]);
}

function partsOf(section) {
  const [, top, name] = /^([^:]+)(?:: (.+))?$/.exec(section);
  return [top, name];
}

function tableOf(rules) {
  const rows = rules.map(({ id, sentence, level, source }) => {
    const mark = level === 'SHOULD' ? ' *(SHOULD)*' : '';
    return `| ${sentence.replaceAll('|', '\\|')}${mark} | \`${id}\` | ${source} |`;
  });
  return ['| Rule | Id | Source |', '|---|---|---|', ...rows].join('\n');
}

/**
 * Puts the rules between the marks of the page.
 *
 * @param {string} page
 * @param {string} rules
 */
export function withRules(page, rules) {
  return page.replace(/<!-- rules -->[\s\S]*<!-- \/rules -->/, () => `<!-- rules -->\n\n${rules}\n\n<!-- /rules -->`);
}

function main() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const { requirements } = JSON.parse(readFileSync(join(root, 'docs/requirements.json'), 'utf8'));
  const page = readFileSync(join(root, PAGE), 'utf8');
  const text = withRules(page, rulesOf(requirements));
  if (!argv.includes('--check')) return writeFileSync(join(root, PAGE), text);
  if (text === page) return;
  console.error(`${PAGE} is outdated. Run npm run generate.`);
  exit(1);
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main();
