import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';

const { checkImports }: { checkImports(root: string): string[] } = await import(
  new URL('./check-imports.mjs', import.meta.url).href
);

const WORKSPACES = ['webhook-verify', 'auth', 'versioning', 'egress-guard', 'host-kit'].map(
  (name) => `packages/${name}`,
);
const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true });
});

/** A tree with every workspace, and these files. */
function tree(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'svc-imports-'));
  roots.push(root);
  const manifest = JSON.stringify({ dependencies: { '@svc/auth': '1', zod: '1' } });
  for (const folder of [...WORKSPACES, 'examples/reference-host', 'examples/subscriber']) {
    write(root, `${folder}/package.json`, manifest);
    write(root, `${folder}/src/index.ts`, '');
  }
  for (const [name, text] of Object.entries(files)) write(root, name, text);
  return root;
}

function write(root: string, name: string, text: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}

test('this tree breaks no rule', () => {
  expect(checkImports(join(import.meta.dirname, '..'))).toEqual([]);
});

test.each([
  [
    'a leaf imports a leaf',
    'packages/versioning/src/a.ts',
    "import { x } from '@svc/auth';",
    'may not import @svc/auth',
  ],
  ['an undeclared dependency', 'packages/auth/src/a.ts', "import x from 'left-pad';", 'left-pad is not among'],
  [
    'http knows the domain',
    'packages/host-kit/src/http/a.ts',
    "import { x } from '../runs/run.ts';",
    'may not look into runs',
  ],
  [
    'a store knows http',
    'packages/host-kit/src/stores/a.ts',
    "export { x } from '../http/body.ts';",
    'may not look into http',
  ],
  [
    'the subscriber looks into the host',
    'examples/subscriber/src/a.ts',
    "const x = await import('@svc/auth');",
    'may not import @svc/auth',
  ],
  ['a drawer', 'packages/auth/src/utils.ts', '', 'is a drawer'],
  ['everything is exported', 'packages/auth/src/a.ts', "export * from './b.ts';", 'hides what is exported'],
  ['a file imports itself by a detour', 'packages/auth/src/a.ts', "import { a } from './a.ts';", 'is a cycle'],
])('%s: told', (_title, file, text, problem) => {
  expect(checkImports(tree({ [file]: text })).join('\n')).toContain(problem);
});

test('types, comments and built-in modules are no imports', () => {
  const text =
    "import type { Run } from '../runs/run.ts';\n// import x from 'y';\nimport { z } from 'zod';\nimport 'node:fs';";
  expect(checkImports(tree({ 'packages/host-kit/src/http/a.ts': text }))).toEqual([]);
});
