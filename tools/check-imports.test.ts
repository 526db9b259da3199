import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { temporaryTree } from './temporary-tree.ts';

interface Check {
  checkImports(root: string): string[];
  cyclesIn(graph: ReadonlyMap<string, readonly string[]>): string[];
}

const { checkImports, cyclesIn }: Check = await import(new URL('./check-imports.mjs', import.meta.url).href);

test('this repository keeps the rules', () => {
  expect(checkImports(fileURLToPath(new URL('..', import.meta.url)))).toEqual([]);
});

const MANIFESTS = {
  'package.json': { devDependencies: { vitest: '5' } },
  'packages/auth/package.json': {
    name: '@svc/auth',
    exports: { '.': {}, './api-key': {} },
    dependencies: { jose: '6' },
  },
  'packages/versioning/package.json': { name: '@svc/versioning', exports: { '.': {} }, imports: { '#clock': {} } },
  'packages/host-kit/package.json': {
    name: '@svc/host-kit',
    exports: { '.': {} },
    dependencies: { '@svc/auth': '^1' },
  },
  'examples/subscriber/package.json': { name: '@svc/subscriber', dependencies: { '@svc/auth': '^1' } },
  'tools/package.json': { name: '@svc/tools', exports: { './covers': './covers.ts' } },
};

const problemsOf = (files: Record<string, string>) => checkImports(temporaryTree({ ...MANIFESTS, ...files }));

const AUTH = 'packages/auth/src/a.ts';
const VERSIONING = 'packages/versioning/src/a.ts';
const HOST = 'packages/host-kit/src/host.ts';
const BODY = 'packages/host-kit/src/http/body.ts';
const RUN = 'packages/host-kit/src/runs/run.ts';
const ROUTE = 'packages/host-kit/src/routes/runs.ts';
const MEMORY = 'packages/host-kit/src/stores/memory/runs.ts';

const LIST = {
  'packages/auth/src/index.ts': "// The entry.\nexport type { A } from './b.ts';\nexport {\n  b,\n} from './b.ts';\n",
};

test('a source file imports files and not a list of them; a test and another list may', () => {
  const importing = "import { b } from './index.ts';";
  expect(problemsOf({ ...LIST, [AUTH]: importing })).toEqual([
    `${AUTH}:1 imports the list ./index.ts; import the file`,
  ]);
  expect(problemsOf({ ...LIST, 'packages/auth/src/a.test.ts': importing })).toEqual([]);
  expect(problemsOf({ ...LIST, 'packages/auth/src/all/index.ts': "export { b } from '../index.ts';" })).toEqual([]);
  const defining = { 'packages/auth/src/index.ts': 'export const b = 1;' };
  expect(problemsOf({ ...defining, [AUTH]: importing })).toEqual([]);
});

describe('what the rules allow passes', () => {
  test.each([
    ['the kit on a leaf', HOST, "import { a } from '@svc/auth/api-key';"],
    ['a declared dependency', AUTH, "import { jwtVerify } from 'jose';"],
    ['a part of a declared dependency', AUTH, "import { jwtVerify } from 'jose/jwt/verify';"],
    ['a module of Node', AUTH, "import { join } from 'node:path';"],
    ['a mapped private import', VERSIONING, "import { now } from '#clock';"],
    ['a test on vitest and covers', 'packages/auth/src/a.test.ts', "import 'vitest'; import '@svc/tools/covers';"],
    ['a test on its own package', 'packages/auth/test/a.test.ts', "import '@svc/auth';"],
    ['a room on the room below', ROUTE, "import '../runs/run.ts';"],
    ['a room on the ground', BODY, "import '../errors.ts';"],
    ['a test on any room', 'packages/host-kit/src/http/body.test.ts', "import '../runs/run.ts';"],
    ['a configuration on the shared one', 'packages/auth/tsup.config.ts', "import '../../tsup.base.ts';"],
  ])('%s', (_, path, text) => {
    expect(problemsOf({ [path]: text })).toEqual([]);
  });
});

describe('what breaks a rule is named with its line', () => {
  test.each([
    ['a leaf on a leaf', AUTH, "import '@svc/versioning';", 'imports @svc/versioning, which packages/auth may not'],
    ['a leaf on the kit', AUTH, "import '@svc/host-kit';", 'imports @svc/host-kit, which packages/auth may not'],
    ['a leaf on a leaf, types only', AUTH, "import type { A } from '@svc/versioning';", 'which packages/auth may not'],
    ['a leaf on a leaf, later', AUTH, "const a = await import('@svc/versioning');", 'which packages/auth may not'],
    ['a leaf in a test', 'packages/auth/test/a.test.ts', "import '@svc/versioning';", 'which packages/auth may not'],
    [
      'an example beyond its part',
      'examples/subscriber/src/main.ts',
      "import '@svc/auth';",
      'examples/subscriber may not',
    ],
    ['covers in a source', AUTH, "import '@svc/tools/covers';", 'which packages/auth may not'],
    [
      'an undeclared dependency',
      AUTH,
      "import 'zod';",
      'imports zod, which packages/auth/package.json does not declare',
    ],
    ['an undeclared sibling', HOST, "import '@svc/versioning';", 'does not declare'],
    ['a development dependency in a source', AUTH, "import 'vitest';", 'imports vitest, which'],
    ['beyond the exports', HOST, "import '@svc/auth/src/a.ts';", 'which @svc/auth does not export'],
    ['into another folder', AUTH, "import '../../versioning/src/b.ts';", 'reaches into packages/versioning/src/b.ts'],
    ['its own package', AUTH, "import '@svc/auth';", 'imports its own package @svc/auth'],
    ['an unmapped private import', VERSIONING, "import '#other';", 'which package.json does not map'],
    ['a module of Node without its prefix', AUTH, "import 'fs/promises';", 'imports fs/promises without node:'],
    ['a star', AUTH, "export * from './b.ts';", 'exports everything of another file'],
    ['http on the domain', BODY, "import '../runs/run.ts';", 'imports runs, which http may not'],
    [
      'http on types of the domain',
      BODY,
      "import type { Run } from '../runs/run.ts';",
      'imports runs, which http may not',
    ],
    ['the domain on http', RUN, "import '../http/body.ts';", 'imports http, which runs may not'],
    ['the domain on a store', RUN, "import '../stores/sqlite/open.ts';", 'imports stores/sqlite, which runs may not'],
    ['the domain on a later room', RUN, "import '../webhooks/outbox.ts';", 'imports webhooks, which runs may not'],
    ['a store on the domain', MEMORY, "import '../../runs/create.ts';", 'imports runs, which stores/memory may not'],
    ['a store on a route', MEMORY, "import '../../routes/runs.ts';", 'imports routes, which stores/memory may not'],
    ['a store on a store', MEMORY, "import '../sqlite/row.ts';", 'imports stores/sqlite, which stores/memory may not'],
    ['a route on the host', ROUTE, "import '../host.ts';", 'imports host.ts, which routes may not'],
    ['the ground on a room', 'packages/host-kit/src/errors.ts', "import './runs/run.ts';", 'which errors.ts may not'],
    [
      'input and output on the wire',
      'packages/host-kit/src/wire/run.ts',
      "import 'node:fs';",
      'without input and output',
    ],
    ['an unknown room', 'packages/host-kit/src/attic/a.ts', "import '../runs/run.ts';", 'is in attic, a room that'],
    ['a module away from its home', RUN, "import 'node:sqlite';", 'which only packages/host-kit/src/stores/sqlite and'],
  ])('%s', (_, path, text, problem) => {
    const problems = problemsOf({ [path]: `\n${text}\n` });
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(problems).toEqual([expect.stringMatching(`^${path}:2 `)]);
  });

  const drawers = ['utils.ts', 'helpers.ts', 'types.ts', 'common/a.ts', 'shared/b/c.ts', 'constants.test.ts'];
  test.each(drawers)('the drawer %s', (path) => {
    expect(problemsOf({ [`packages/auth/src/${path}`]: '' })).toEqual([expect.stringContaining('is a drawer')]);
  });

  test('a cycle, once, with its whole way', () => {
    const way = ['a', 'b', 'c', 'a'].map((name) => `packages/auth/src/${name}.ts`).join(' → ');
    const files = {
      'packages/auth/src/a.ts': "import './b.ts';",
      'packages/auth/src/b.ts': "import type { C } from './c.ts';",
      'packages/auth/src/c.ts': "export { a } from './a.ts';",
    };
    expect(problemsOf(files)).toEqual([`${way} is a cycle`]);
  });

  test('a file that imports itself', () => {
    expect(problemsOf({ [AUTH]: "import { a } from './a.ts';" })).toEqual([`${AUTH} → ${AUTH} is a cycle`]);
  });

  test('rules that allow a cycle of rooms', () => {
    const rules = { runs: ['ports'], webhooks: ['runs', 'streams'], streams: ['webhooks'], ports: [] };
    expect(cyclesIn(new Map(Object.entries(rules)))).toEqual(['webhooks → streams → webhooks is a cycle']);
  });

  test('a workspace without rules', () => {
    const problems = problemsOf({ 'packages/newcomer/package.json': '{}' });
    expect(problems).toEqual([expect.stringContaining('packages/newcomer is a workspace')]);
  });
});
