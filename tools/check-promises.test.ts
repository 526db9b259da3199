import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryTree } from './temporary-tree.ts';

interface Check {
  promiseProblems(config: string): string[];
}

const { promiseProblems }: Check = await import(new URL('./check-promises.mjs', import.meta.url).href);

/** The functions are in another module, which the linter does not look at. */
const VERIFY = [
  'export async function verify(): Promise<boolean> { return false; }',
  'export function verifyLater(): Promise<boolean> | boolean { return false; }',
  'export function holds(): boolean { return true; }',
  'export let pending: Promise<void> | undefined;',
  'export const lazy: PromiseLike<boolean> = { then: () => { throw new Error(); } };',
  'export interface Job { readonly done?: Promise<void> | null }',
].join('\n');

/** Each program of the table is a file of one project, so that the compiler starts once. */
function problemsOf(programs: readonly string[]): string[][] {
  const header = "import { holds, type Job, lazy, pending, verify, verifyLater } from './verify.ts';\n";
  const uses = '\nexport { holds, lazy, pending, verify, verifyLater, type Job };\n';
  const options = { strict: true, noEmit: true, module: 'NodeNext', allowImportingTsExtensions: true, types: [] };
  const root = temporaryTree({
    'tsconfig.json': { compilerOptions: { ...options, lib: ['ES2023'] }, include: ['src'] },
    'src/verify.ts': VERIFY,
    ...Object.fromEntries(programs.map((program, index) => [`src/p${index}.ts`, header + program + uses])),
  });
  const problems = promiseProblems(join(root, 'tsconfig.json'));
  return programs.map((_program, index) => problems.filter((problem) => problem.startsWith(`src/p${index}.ts:`)));
}

test('a promise in a condition is refused, with its line and the remedy', () => {
  expect(problemsOf(['\nif (!verify()) throw new Error();'])).toEqual([
    ['src/p0.ts:3 tests the promise verify(), which is always true. Await it.'],
  ]);
});

describe('conditions', () => {
  const REFUSED: readonly [string, string][] = [
    ['an if', 'if (verify()) throw new Error();'],
    ['a negation', 'export const isBad = !verify();'],
    ['a negation in brackets', 'export const isBad = !(verify());'],
    ['the left of &&', 'export const both = verify() && holds();'],
    ['the left of ||', 'export const either = verify() || holds();'],
    ['the right of && in an if', 'if (holds() && verify()) throw new Error();'],
    ['a ternary', 'export const text = verify() ? 1 : 2;'],
    ['a ternary with brackets and &&', 'export const text = (holds() && verify()) ? 1 : 2;'],
    ['a while', 'while (verify()) break;'],
    ['a do', 'do {} while (verify());'],
    ['a for', 'for (; verify(); ) break;'],
    ['a variable', 'const found = verify(); if (found) throw new Error();'],
    ['a promise or a value', 'if (!verifyLater()) throw new Error();'],
    ['a thenable', 'if (lazy) throw new Error();'],
    ['a condition within a function', 'export function f(): void { if (verify()) throw new Error(); }'],
    ['a type parameter', 'export function f<P extends Promise<boolean>>(p: P): void { if (p) throw new Error(); }'],
  ];
  const PASSED: readonly [string, string][] = [
    ['an awaited promise', 'if (!(await verify())) throw new Error();'],
    ['a value', 'if (!holds()) throw new Error();'],
    ['a promise that may be undefined', 'if (pending) await pending;'],
    ['a promise that may be absent or null', 'export const f = ({ done }: Job) => !done;'],
    ['a comparison', 'if (pending !== undefined) await pending;'],
    ['the right of && as a value', 'export const done = holds() && verify();'],
    ['a default', 'export const f = (p?: Promise<boolean>) => p ?? verify();'],
  ];

  const countsOf = (programs: readonly [string, string][]) => {
    const problems = problemsOf(programs.map(([, program]) => program));
    return programs.map(([name], index) => [name, problems[index]?.length]);
  };

  test('that test a promise are refused, each once', () => {
    expect(countsOf(REFUSED)).toEqual(REFUSED.map(([name]) => [name, 1]));
  });

  test('that test a value, or the presence of a promise, pass', () => {
    expect(countsOf(PASSED)).toEqual(PASSED.map(([name]) => [name, 0]));
  });
});

test('a configuration that is missing is an error', () => {
  expect(() => promiseProblems(join(temporaryTree(), 'tsconfig.json'))).toThrow(/tsconfig\.json/);
});
