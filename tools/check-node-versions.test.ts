import { expect, test } from 'vitest';

interface Check {
  nodeVersionProblems(
    files: readonly { path: string; text: string }[],
    lowest: { ofPackages: string; ofCheckout: string },
  ): string[];
}

const { nodeVersionProblems }: Check = await import(new URL('./check-node-versions.mjs', import.meta.url).href);

const LOWEST = { ofPackages: '22.19', ofCheckout: '20' };
const problemsOf = (path: string, text: string) => nodeVersionProblems([{ path, text }], LOWEST);

test.each([
  ['packages/a/README.md', 'ES modules, Node 22.19\nor later.'],
  ['packages/a/src/main.ts', 'a: needs Node 22.19 or later'],
  ['README.md', 'In a checkout, with Node 20 or later.'],
  ['CONTRIBUTING.md', 'Node 20 or later for a checkout, Node 22.19 or later for the packages.'],
])('%s passes with: %s', (path, text) => {
  expect(problemsOf(path, text)).toEqual([]);
});

test.each([
  ['packages/a/README.md', 'Node 20 or later', 'states Node 20. Here it is 22.19.'],
  ['docs/start/a.md', 'Node.js 22 or newer', 'states Node 22.'],
  ['examples/a.ts', 'the host requires 22.18.', 'states Node 22.18.'],
  ['CONTRIBUTING.md', 'Node 20 or later', 'does not state Node 22.19.'],
])('%s is named with: %s', (path, text, problem) => {
  expect(problemsOf(path, text)).toEqual([expect.stringContaining(`${path} ${problem}`)]);
});
