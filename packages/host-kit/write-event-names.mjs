/**
 * Writes the names of the event types into the packages that need them without the host, from the vocabulary of
 * `@svc/host-kit`: `node packages/host-kit/write-event-names.mjs`. `--check` writes nothing, and fails on an outdated file.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { VOCABULARY } from './src/events/vocabulary/vocabulary.ts';

const WRITTEN = 'Written by `npm run generate` from the vocabulary of the host kit: change an event type there.';
const root = fileURLToPath(new URL('../..', import.meta.url));
const isCheck = argv.includes('--check');
for (const [path, text] of [
  ['packages/webhook-verify/src/events/names.ts', namesOfBothMajors()],
  ['packages/versioning/src/event-vocabulary.ts', renames()],
]) {
  const file = join(root, path);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  if (isCheck) {
    console.error(`${path} is outdated. Run npm run generate.`);
    process.exitCode = 1;
  } else writeFileSync(file, text);
}

function namesOfBothMajors() {
  const entries = Object.entries(VOCABULARY);
  return `// ${WRITTEN}
${list('EVENT_NAMES_V1', 'Every event type of major 1. @see Interface: Events', entries.map(nameInMajor1))}
/** An event type name of major 1. */
export type EventTypeV1 = (typeof EVENT_NAMES_V1)[number];

${list('EVENT_NAMES_V2', 'Every event type of major 2. @see Interface: Events', Object.keys(VOCABULARY))}
/** An event type name of major 2. */
export type EventTypeV2 = (typeof EVENT_NAMES_V2)[number];
`;
}

function renames() {
  const pairs = Object.entries(VOCABULARY).flatMap((entry) => {
    const [first, second] = [nameInMajor1(entry), entry[0]];
    return first === second ? [] : [`  ['${first}', '${second}'],\n`];
  });
  return `// ${WRITTEN}
/** The event types that the majors spell differently, as pairs of the name in major 1 and the name in major 2. */
export const EVENT_RENAMES: readonly (readonly [v1: string, v2: string])[] = [
${pairs.join('')}];

/** The first words of all event types of both majors, as far as an organization could have them as its name. */
export const EVENT_FIRST_WORDS: readonly string[] = [
${firstWords()
  .map((word) => `  '${word}',\n`)
  .join('')}];
`;
}

/** Sorted, so that a new event type moves no other line. */
function firstWords() {
  const names = Object.entries(VOCABULARY).flatMap((entry) => [nameInMajor1(entry), entry[0]]);
  const words = new Set(names.map((name) => name.slice(0, name.indexOf('.'))));
  return [...words].filter((word) => /^[a-z0-9-]+$/.test(word)).sort();
}

function nameInMajor1([name, { nameInMajor1 = name }]) {
  return nameInMajor1;
}

function list(constant, description, names) {
  return `/** ${description} */
export const ${constant} = [
${names.map((name) => `  '${name}',\n`).join('')}] as const;
`;
}
