/**
 * Checks that the public surface is documented, and counts it per package: `npm run docs -- docstrings`.
 *
 * A symbol that an entry exports has a docstring, and so has every member of an options interface. A function or class
 * has an example. A type that a symbol mentions is exported by an entry, too: a program whose own declarations have it must name it.
 * `--unexported` lists those that are not, with the constants of which the compiler inlines the type.
 */
import { argv, exit } from 'node:process';
import { ReflectionKind } from 'typedoc';
import { entriesOf, ROOT, readModel } from './model.mjs';

/** The columns of the counts. `members` is for information: only those of options must be documented. */
const COLUMNS = {
  symbols: 'symbols with docstring',
  examples: 'functions and classes with example',
  options: 'options with docstring',
  members: 'members of all interfaces with docstring',
};

/** The name of a constant, as in `typeof NAMES`. */
const CONSTANT = /^[A-Z][A-Z0-9_]*$/;

const folderOf = new Map(entriesOf(ROOT).map(({ name, folder }) => [name, folder]));
const problems = [];
const counts = new Map();
/** The places of the members that were counted: several object types may share one. */
const seen = new Set();

const { project, unexported } = await readModel({ sourceLinkTemplate: '{path}' });
if (argv.includes('--unexported')) {
  console.log(unexported.join('\n'));
  exit(0);
}

for (const entry of project.getChildrenByKind(ReflectionKind.Module)) {
  for (const symbol of entry.children ?? []) take(symbol, folderOf.get(entry.name));
}
for (const sentence of unexported) {
  const [, name = '', path = ''] = /^([\w.]+), defined in @svc\/([^,]+),/.exec(sentence) ?? [];
  if (!CONSTANT.test(name)) problems.push({ path: `packages/${path}`, line: 0, sentence });
}
problems.sort((one, other) => (one.path === other.path ? one.line - other.line : one.path < other.path ? -1 : 1));
for (const { path, line, sentence } of problems) console.error(`${path}:${line} ${sentence}`);
for (const [folder, count] of [...counts, ['all packages', total()]]) {
  const cells = Object.entries(COLUMNS).map(([column, title]) => `${count[column].join(' of ')} ${title}`);
  console.log(`${folder}: ${cells.join(', ')}`);
}
if (problems.length > 0) exit(1);

/** Counts a symbol that several entries export once: the other entries only refer to it. */
function take(symbol, folder) {
  if (symbol.kindOf(ReflectionKind.Reference)) return;
  count(folder, 'symbols', symbol, isDocumented(symbol), `${symbol.name} has no docstring`);
  if (symbol.kindOf([ReflectionKind.Function, ReflectionKind.Class])) {
    count(folder, 'examples', symbol, hasExample(symbol), `${symbol.name} has no @example`);
  }
  if (!symbol.kindOf([ReflectionKind.Interface, ReflectionKind.TypeAlias])) return;
  for (const { member, path } of membersOf(symbol, symbol.name)) {
    const at = member.sources?.[0];
    const key = `${at?.fileName}:${at?.line}:${at?.character}`;
    if (seen.has(key)) continue;
    seen.add(key);
    count(folder, 'members', member, isDocumented(member));
    if (symbol.name.endsWith('Options')) {
      count(folder, 'options', member, isDocumented(member), `${path} has no docstring`);
    }
  }
}

function count(folder, column, reflection, isFine, sentence) {
  if (!counts.has(folder))
    counts.set(folder, Object.fromEntries(Object.keys(COLUMNS).map((column) => [column, [0, 0]])));
  const cell = counts.get(folder)[column];
  cell[1] += 1;
  if (isFine) {
    cell[0] += 1;
  } else if (sentence !== undefined) {
    const at = reflection.sources?.[0] ?? reflection.signatures?.[0]?.sources?.[0];
    problems.push({ path: at?.fileName ?? folder, line: at?.line ?? 0, sentence });
  }
}

function total() {
  const sum = (column, index) => [...counts.values()].reduce((all, count) => all + count[column][index], 0);
  return Object.fromEntries(Object.keys(COLUMNS).map((column) => [column, [sum(column, 0), sum(column, 1)]]));
}

function isDocumented(reflection) {
  return commentsOf(reflection).some((comment) => comment.hasVisibleComponent());
}

function hasExample(reflection) {
  const constructors = reflection.getChildrenByKind?.(ReflectionKind.Constructor) ?? [];
  return [reflection, ...constructors].some((documented) =>
    commentsOf(documented).some((comment) => comment.getTag('@example') !== undefined),
  );
}

/** TypeDoc moves the docstring of a function, and of a member that is a function, to its signatures. */
function commentsOf({ comment, signatures, type, getSignature }) {
  const called = type?.type === 'reflection' ? (type.declaration.signatures ?? []) : [];
  const all = [
    comment,
    getSignature?.comment,
    ...[...(signatures ?? []), ...called].map((signature) => signature.comment),
  ];
  return all.filter((one) => one !== undefined);
}

/** Lists the members of an object type and of the object types within, without those of an exported parent. */
function membersOf(reflection, path) {
  const own = (reflection.children ?? []).filter(({ inheritedFrom }) => inheritedFrom?.reflection === undefined);
  return [
    ...own.flatMap((member) => [
      { member, path: `${path}.${member.name}` },
      ...membersOf({ type: member.type }, `${path}.${member.name}`),
    ]),
    ...objectTypesIn(reflection.type).flatMap((declaration) => membersOf(declaration, path)),
  ];
}

function objectTypesIn(type) {
  if (type === undefined) return [];
  if (type.type === 'reflection') return [type.declaration];
  if (type.type === 'array' || type.type === 'optional') return objectTypesIn(type.elementType);
  if (type.type === 'typeOperator') return objectTypesIn(type.target);
  if (type.type === 'union' || type.type === 'intersection') return type.types.flatMap(objectTypesIn);
  return [];
}
