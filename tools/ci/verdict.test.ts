import { describe, expect, test } from 'vitest';
import type { Failure, Outcome } from './outcome.ts';

type Verdict = 'green' | 'green-flaky' | 'stale' | 'infrastructure' | 'broken';
interface Result {
  name: string;
  verdict: Verdict;
  seconds: number;
  passed: number;
  findings: string[];
  log?: string;
}
interface Judge {
  verdictOf(step: {
    code: number;
    isTimedOut?: boolean;
    hasTests?: boolean;
    first: Outcome;
    repeated?: Outcome;
    tail?: string;
  }): Pick<Result, 'verdict' | 'passed' | 'findings'>;
  unsteadyCandidates(first: Outcome): string[];
  worstOf(results: readonly Result[]): Verdict;
  exitCodeOf(verdict: Verdict): number;
  lastPage(results: readonly Result[], notes?: readonly string[]): string;
}

const { verdictOf, unsteadyCandidates, worstOf, exitCodeOf, lastPage }: Judge = await import(
  new URL('./verdict.mjs', import.meta.url).href
);

const ONE: Failure = { file: 'one.test.ts', test: 'a host > answers', message: 'expected 1 to be 2' };
const TWO: Failure = { file: 'two.test.ts', test: 'a key > is read', message: 'timed out' };
const SOAK: Failure = { file: 'soak/soak.test.ts', test: 'accounts for every event', message: 'lost 1' };
const UNHANDLED: Failure = { file: '', test: 'unhandled error', message: 'read ECONNRESET' };
const STALE: Failure = { file: '', test: 'api', message: 'The public types changed.', mend: 'npm run generate' };
const PASSED: Outcome = { passed: 3, failures: [] };
const NOTHING: Outcome = { passed: 0, failures: [] };
const failing = (...failures: Failure[]): Outcome => ({ passed: 2, failures });

describe('a step is', () => {
  test.each<[Verdict, string, Parameters<Judge['verdictOf']>[0]]>([
    ['green', 'when all passed', { code: 0, first: PASSED }],
    ['green', 'when it succeeded and tells no tests', { code: 0, first: NOTHING }],
    ['broken', 'when it has tests and none ran', { code: 0, hasTests: true, first: NOTHING }],
    ['broken', 'when it failed and tells no test', { code: 1, first: NOTHING, tail: 'no such module' }],
    ['broken', 'when a test failed, and nothing ran again', { code: 1, first: failing(ONE) }],
    ['broken', 'when a test failed twice', { code: 1, first: failing(ONE), repeated: failing(ONE) }],
    [
      'broken',
      'when another test of the file failed the second time',
      { code: 1, first: failing(ONE), repeated: failing({ ...ONE, test: 'a host > stops' }) },
    ],
    ['broken', 'when no test passed the second time', { code: 1, first: failing(ONE), repeated: NOTHING }],
    ['broken', 'when one of two failed twice', { code: 1, first: failing(ONE, TWO), repeated: failing(TWO) }],
    ['broken', 'when an error belongs to no file', { code: 1, first: failing(ONE, UNHANDLED), repeated: PASSED }],
    [
      'broken',
      'when the second run has an error that belongs to no file',
      { code: 1, first: failing(ONE), repeated: failing(UNHANDLED) },
    ],
    ['broken', 'when data were lost once', { code: 1, first: failing(SOAK), repeated: PASSED }],
    ['green-flaky', 'when a test failed once', { code: 1, first: failing(ONE), repeated: PASSED }],
    ['stale', 'when only generated files differ', { code: 1, first: { passed: 0, failures: [STALE] } }],
    ['broken', 'when a check found more than that', { code: 1, first: failing(STALE, UNHANDLED) }],
    ['infrastructure', 'when it did not end', { code: 137, isTimedOut: true, first: PASSED }],
  ])('%s %s', (verdict, _, step) => expect(verdictOf(step).verdict).toBe(verdict));
});

test('a test that passed the second time is named and counted', () => {
  expect(verdictOf({ code: 1, first: failing(ONE), repeated: PASSED })).toEqual({
    verdict: 'green-flaky',
    passed: 3,
    findings: ['failed once, passed when run alone: one.test.ts > a host > answers > expected 1 to be 2'],
  });
});

test('a stale file is named with the command that writes it', () => {
  const { findings } = verdictOf({ code: 1, first: { passed: 0, failures: [STALE] } });
  expect(findings).toEqual(['api > The public types changed.\nRun: npm run generate']);
});

test('a failed step without an outcome shows the end of its log', () => {
  const { findings } = verdictOf({ code: 3, first: NOTHING, tail: 'no such module' });
  expect(findings).toEqual(['It ended with exit code 3.', 'no such module']);
});

describe('a second run', () => {
  const others = ['three', 'four', 'five'].map((file) => ({ ...ONE, file }));
  test.each<[string, Outcome, string[]]>([
    ['is of the failed files', failing(ONE, { ...ONE, test: 'another' }, TWO), ['one.test.ts', 'two.test.ts']],
    ['leaves out files about lost or doubled data', failing(ONE, SOAK), ['one.test.ts']],
    ['is not made when many files failed', failing(ONE, ...others), []],
    ['is not made when an error belongs to no file', failing(ONE, UNHANDLED), []],
  ])('%s', (_, first, files) => expect(unsteadyCandidates(first)).toEqual(files));
});

const result = (verdict: Verdict, more: Partial<Result> = {}): Result => ({
  ...{ name: 'tests', verdict, seconds: 12.3, passed: 5, findings: [] },
  ...more,
});

describe('a run', () => {
  test.each<[Verdict, Verdict[]]>([
    ['green', ['green', 'green']],
    ['green-flaky', ['green', 'green-flaky']],
    ['stale', ['stale', 'green-flaky']],
    ['infrastructure', ['stale', 'infrastructure']],
    ['broken', ['infrastructure', 'broken', 'green']],
  ])('is %s when its steps are %j', (verdict, steps) =>
    expect(worstOf(steps.map((step) => result(step)))).toBe(verdict),
  );

  test('with more unsteady tests than an accident has is broken', () => {
    const unsteady = (count: number) => [
      result('green-flaky', { findings: Array.from({ length: count }, () => 'once') }),
    ];
    expect([worstOf(unsteady(3)), worstOf(unsteady(4))]).toEqual(['green-flaky', 'broken']);
  });

  test.each<[Verdict, number]>([
    ['green', 0],
    ['green-flaky', 0],
    ['stale', 1],
    ['infrastructure', 75],
    ['broken', 1],
  ])('that is %s ends with %i', (verdict, code) => expect(exitCodeOf(verdict)).toBe(code));
});

describe('the last page', () => {
  test('names each step, and the findings of failed ones', () => {
    const page = lastPage(
      [
        result('green', { name: 'check', passed: 0 }),
        result('broken', { findings: ['failed: one\ntwo'], log: '.ci-out/tests.log' }),
      ],
      ['npm test took 12 s.'],
    );
    expect(page.split('\n')).toEqual([
      'green     12 s  check',
      'FAILED broken     12 s  tests: 5 passed  (.ci-out/tests.log)',
      '    failed: one',
      '    two',
      'npm test took 12 s.',
      'verdict: broken',
      '5 passed, 1 failed',
    ]);
  });

  test('shows the first twenty findings of a step', () => {
    const findings = Array.from({ length: 23 }, (_, index) => `finding ${index}`);
    const page = lastPage([result('broken', { findings })]);
    expect(page).toContain('finding 19\n    and 3 more\n');
    expect(page).toMatch(/5 passed, 23 failed$/);
  });

  test('counts no test that passed the second time as failed', () => {
    expect(lastPage([result('green-flaky', { findings: ['failed once'] })])).toMatch(/\n5 passed, 0 failed$/);
  });

  test('counts, of a broken step, the tests that failed twice', () => {
    const { verdict, findings } = verdictOf({ code: 1, first: failing(ONE, TWO), repeated: failing(TWO) });
    expect(lastPage([result(verdict, { findings })])).toMatch(/\n5 passed, 1 failed$/);
  });

  test('says of a fault of the machine that the run may be repeated', () => {
    expect(lastPage([result('infrastructure')])).toContain('verdict: infrastructure (it says nothing about the change');
  });
});
