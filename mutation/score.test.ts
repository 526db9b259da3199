import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import floors from './floors.json' with { type: 'json' };

interface Score {
  scoreOf(
    file: unknown,
    floor: unknown,
  ): { mutants: number; killed: number; score: number; survivors: string[]; problems: string[] };
  rounded(score: number): number;
}

const { groups } = floors;
const { scoreOf, rounded }: Score = await import(new URL('./score.mjs', import.meta.url).href);

const SOURCE = 'const isOpen =\n  a < b &&\n  c;\n';
const at = (line: number, from: number, endLine: number, to: number) => ({
  start: { line, column: from },
  end: { line: endLine, column: to },
});
const mutant = (status: string, location = at(2, 3, 2, 8), replacement = 'a <= b') => ({
  mutatorName: 'EqualityOperator',
  replacement,
  status,
  location,
});
const judge = (mutants: readonly object[], floor: object = {}) =>
  scoreOf({ source: SOURCE, mutants }, { path: 'p.ts', floor: 0, ...floor });
const EQUIVALENT = { lines: ['a < b &&'], mutants: ['a < b → a <= b'], because: 'a is never b.' };

describe('the score of a file', () => {
  test('is the part of its mutants that a test notices', () => {
    const { mutants, killed, score } = judge([
      mutant('Killed'),
      mutant('Timeout'),
      mutant('Survived'),
      mutant('NoCoverage'),
    ]);
    expect([mutants, killed, score]).toEqual([4, 2, 0.5]);
  });

  test('leaves out mutants that do not load, and those that were not asked for', () => {
    const statuses = ['Killed', 'RuntimeError', 'CompileError', 'Ignored', 'Pending'];
    expect(judge(statuses.map((status) => mutant(status)))).toMatchObject({ mutants: 1, killed: 1, score: 1 });
  });

  test('leaves out survivors that behave as the original', () => {
    const result = judge([mutant('Killed'), mutant('Survived')], { equivalent: [EQUIVALENT], floor: 1 });
    expect(result).toMatchObject({ mutants: 1, score: 1, survivors: [], problems: [] });
  });

  test.each([
    ['of another line', { lines: ['a < c &&'] }],
    ['with another replacement', { mutants: ['a < b → false'] }],
  ])('counts a survivor next to an entry %s', (_name, other) => {
    const { score, problems } = judge([mutant('Survived')], { equivalent: [{ ...EQUIVALENT, ...other }] });
    expect(score).toBe(0);
    expect(problems).toContainEqual(expect.stringMatching(/no survivor is .* Remove it/));
  });

  test('leaves out each of several mutants of an entry, and refuses those that do not survive', () => {
    const mutants = ['a < b → a <= b', 'a < b → true', 'a < b → false'];
    const { score, problems } = judge([mutant('Survived'), mutant('Survived', at(2, 3, 2, 8), 'true')], {
      equivalent: [{ ...EQUIVALENT, mutants }],
    });
    expect(score).toBe(1);
    expect(problems).toContainEqual(expect.stringContaining('`a < b → false`'));
    expect(problems).not.toContainEqual(expect.stringContaining('`a < b → true`'));
  });

  test('refuses an entry for a mutant that a test kills', () => {
    const { problems } = judge([mutant('Killed')], { equivalent: [EQUIVALENT] });
    expect(problems).toEqual(
      ['a < b &&', 'a < b → a <= b'].map(
        (text) => `p.ts: no survivor is \`${text}\`. Remove it from the equivalent mutants.`,
      ),
    );
  });

  test('below its floor is a problem, and at its floor is none', () => {
    const mutants = [mutant('Killed'), mutant('Survived')];
    expect(judge(mutants, { floor: 0.5 }).problems).toEqual([]);
    expect(judge(mutants, { floor: 0.51 }).problems).toEqual([
      'p.ts: the score 0.5 is below the floor 0.51. Write the missing tests.',
    ]);
  });

  test('without a mutant is a problem: the file may have been moved', () => {
    expect(judge([]).problems).toEqual(['p.ts: has no mutants. Remove the entry.']);
  });

  test('is shown rounded down', () => {
    expect([rounded(0.9999), rounded(1), rounded(2 / 3)]).toEqual([0.999, 1, 0.666]);
  });
});

test('a survivor is shown with its line and its change, also over several lines', () => {
  expect(judge([mutant('Survived', at(2, 3, 3, 4), 'true')]).survivors).toEqual([
    'p.ts:2 a < b &&\n      a < b && c → true',
  ]);
});

describe('the floors', () => {
  const files = groups.flatMap((group) => group.files);
  const isThere = (path: string) => existsSync(fileURLToPath(new URL(`../${path}`, import.meta.url)));

  test('are of files that exist, each once, with tests that exist', () => {
    const paths = files.map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    expect([...paths, ...groups.flatMap(({ tests }) => tests)].filter((path) => !isThere(path))).toEqual([]);
  });

  test('are parts of 1, and each equivalent mutant has its reason', () => {
    for (const { path, floor, equivalent = [] } of files) {
      expect(floor, path).toBeGreaterThan(0);
      expect(floor, path).toBeLessThanOrEqual(1);
      for (const { because } of equivalent) expect(because, path).toMatch(/^[A-Z`].{20,}\.$/);
    }
  });

  test('have groups that every run of CI judges', () => {
    expect(groups.some((group) => 'ci' in group && group.ci)).toBe(true);
  });
});
