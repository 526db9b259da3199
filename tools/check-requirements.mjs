/**
 * Checks `docs/requirements.json` against the tests that cite it.
 *
 * `node tools/check-requirements.mjs` fails on a malformed list, on a citation of an unknown id, and on a rule that no
 * black-box test cites and that has no `unobserved`. It prints the number of cited rules of each package, and how many
 * of them a black-box test cites; `--uncited` also lists the uncited rules.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';

/**
 * Checks the list together with the sources that cite it.
 *
 * @param {unknown} document the parsed `docs/requirements.json`
 * @param {readonly { path: string, text: string }[]} sources
 * @returns {Outcome}
 *
 * @typedef {{ name: string, cited: number, observed: number, total: number }} PackageCount
 * @typedef {{ problems: string[], packages: PackageCount[], uncited: string[] }} Outcome
 */
export function checkRequirements(document, sources) {
  const problems = problemsOfDocument(document);
  const requirements = requirementsOf(document).filter(isObject);
  const known = new Set(requirements.map(({ id }) => id));
  const cited = new Set();
  /** The first black-box citation of each rule. */
  const observed = new Map();
  for (const { path, text } of sources) {
    for (const { id, line } of path.startsWith(CHECKS) ? checkedIn(text) : citationsIn(text)) {
      if (!known.has(id)) problems.push(`${path}:${line} cites the unknown id '${id}'`);
      cited.add(id);
      if (isBlackBox(path) && !observed.has(id)) observed.set(id, `${path}:${line}`);
    }
  }
  for (const { id, unobserved } of requirements) problems.push(...problemsOfObservation(id, unobserved, observed));
  const packages = PACKAGES.map((name) => {
    const own = requirements.filter((requirement) => requirement.package === name);
    const among = (ids) => own.filter(({ id }) => ids.has(id)).length;
    return { name, cited: among(cited), observed: among(observed), total: own.length };
  });
  const uncited = [...known].filter((id) => !cited.has(id));
  return { problems, packages, uncited };
}

function problemsOfObservation(id, unobserved, observed) {
  const citation = observed.get(id);
  if (unobserved === undefined && citation === undefined) {
    return [`${id}: no black-box test cites it. Cite it in ${TESTS}, or give it an 'unobserved' with the reason.`];
  }
  if (unobserved !== undefined && citation !== undefined) {
    return [`${id}: has an 'unobserved', and ${citation} cites it. Remove one of the two.`];
  }
  return [];
}

/** Tests of the booted reference host. */
const TESTS = 'examples/reference-host/test/';

/** Checks that a test of the booted reference host runs, each of them: see its `conformance/conformance.test.ts`. */
const CHECKS = 'packages/conformance/src/checks/';

function isBlackBox(path) {
  return path.startsWith(TESTS) || path.startsWith(CHECKS);
}

const PACKAGES = ['webhook-verify', 'egress-guard', 'versioning', 'auth', 'host-kit', 'console'];
const LEVELS = ['MUST', 'SHOULD'];
const SOURCES = ['interface', 'ruling', 'fact', 'own'];
const FIELDS = ['id', 'section', 'source', 'level', 'sentence', 'package', 'unobserved'];

/** The only reason for a rule without a black-box test. */
const UNOBSERVED = 'not observable over HTTP';

/** Three lower-kebab segments: area, topic, rule. */
const ID = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*){2}$/;

/**
 * Checks the list itself.
 *
 * @param {unknown} document
 * @returns {string[]} one sentence for each problem
 */
export function problemsOfDocument(document) {
  const requirements = requirementsOf(document);
  if (requirements.length === 0) return ['requirements.json has no requirements'];
  const seen = new Set();
  return requirements.flatMap((requirement, index) => {
    const name = `requirements[${index}] (${requirement?.id})`;
    if (!isObject(requirement)) return [`${name} is not an object`];
    const problems = [];
    if (!ID.test(requirement.id)) problems.push(`${name}: the id is not three lower-kebab segments joined by dots`);
    if (seen.has(requirement.id)) problems.push(`${name}: the id appears twice`);
    seen.add(requirement.id);
    for (const field of ['section', 'sentence']) {
      if (!isFilled(requirement[field])) problems.push(`${name}: ${field} is empty`);
    }
    if (!LEVELS.includes(requirement.level)) problems.push(`${name}: level is not one of ${LEVELS.join(', ')}`);
    if (!SOURCES.includes(requirement.source)) problems.push(`${name}: source is not one of ${SOURCES.join(', ')}`);
    if (!PACKAGES.includes(requirement.package)) problems.push(`${name}: unknown package '${requirement.package}'`);
    for (const field of Object.keys(requirement)) {
      if (!FIELDS.includes(field)) problems.push(`${name}: unknown field '${field}'`);
    }
    if (requirement.unobserved !== undefined) problems.push(...problemsOfReason(name, requirement.unobserved));
    return problems;
  });
}

function problemsOfReason(name, unobserved) {
  if (!isObject(unobserved)) return [`${name}: unobserved is not an object with 'reason' and 'because'`];
  const { reason, because, ...others } = unobserved;
  const problems = Object.keys(others).map((field) => `${name}: unobserved has the unknown field '${field}'`);
  if (reason !== UNOBSERVED) problems.push(`${name}: unobserved.reason is not '${UNOBSERVED}'`);
  if (!isFilled(because) || !SENTENCE.test(because)) problems.push(`${name}: unobserved.because is not one sentence`);
  return problems;
}

/** A capital or a code span, no full stop inside, and a full stop at the end. */
const SENTENCE = /^[A-Z`](?:[^.\n]|\.(?! ))*\.$/;

function requirementsOf(document) {
  return Array.isArray(document?.requirements) ? document.requirements : [];
}

function isObject(value) {
  return typeof value === 'object' && value !== null;
}

function isFilled(value) {
  return typeof value === 'string' && value.trim() !== '';
}

/**
 * Finds the literal ids in every `covers` call of a source text, in any quotes and over several lines.
 *
 * @param {string} text
 * @returns {{ id: string, line: number }[]}
 */
export function citationsIn(text) {
  return [...text.matchAll(/\bcovers\(([^()]*)\)/g)].flatMap((call) =>
    [...call[1].matchAll(/(['"`])(.*?)\1/g)].map((literal) => ({
      id: literal[2],
      line: text.slice(0, call.index + 'covers('.length + literal.index).split('\n').length,
    })),
  );
}

/**
 * Finds the ids that checks of the conformance suite name: `rule: [section, id]`.
 *
 * @param {string} text
 * @returns {{ id: string, line: number }[]}
 */
export function checkedIn(text) {
  return [...text.matchAll(/\brule: \[\s*(?:'[^']*'|\w+),\s*'([^']*)',?\s*\]/g)].map((rule) => ({
    id: rule[1],
    line: text.slice(0, rule.index + rule[0].lastIndexOf(`'${rule[1]}'`)).split('\n').length,
  }));
}

/**
 * Reads the list and the tests of a checkout.
 *
 * @param {string} root the directory that holds `docs/`, `packages/`, `examples/`, `tools/` and `soak/`
 */
export function readTree(root) {
  const document = JSON.parse(readFileSync(join(root, 'docs/requirements.json'), 'utf8'));
  const paths = ['packages', 'examples', 'tools', 'soak', 'load'].flatMap((directory) => filesBelow(root, directory));
  const sources = paths
    .filter((path) => CITING.some((pattern) => pattern.test(path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  return { document, sources };
}

const CITING = [
  /^packages\/[^/]+\/src\/.*\.test\.ts$/,
  /^packages\/[^/]+\/test\/.*\.ts$/,
  /^examples\/.*\.test\.ts$/,
  /^tools\/[^/]+\.test\.ts$/,
  /^soak\/[^/]+\.test\.ts$/,
  /^packages\/conformance\/src\/checks\/.*\.ts$/,
];

/**
 * Returns the paths of files below a directory, relative to the root and with forward slashes. Skips installed and
 * built files.
 */
function filesBelow(root, directory) {
  return readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : filesBelow(root, path);
    return entry.isFile() ? [path] : [];
  });
}

const SKIPPED = new Set(['node_modules', 'dist']);

function main() {
  const { document, sources } = readTree(fileURLToPath(new URL('..', import.meta.url)));
  const { problems, packages, uncited } = checkRequirements(document, sources);
  for (const { name, cited, observed, total } of packages) {
    console.log(`${name.padEnd(16)} ${cited}/${total} cited, ${observed} by black-box tests`);
  }
  if (argv.includes('--uncited')) console.log(uncited.join('\n'));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) exit(1);
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main();
