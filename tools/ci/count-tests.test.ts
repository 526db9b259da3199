import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryTree } from '../temporary-tree.ts';
import type { Failure, Outcome } from './outcome.ts';

const script = fileURLToPath(new URL('./count-tests.mjs', import.meta.url));

const ONE: Failure = { file: 'one.test.ts', test: 'a host > answers', message: 'expected 1 to be 2' };
const TWO: Failure = { file: 'two.test.ts', test: 'a key > is read', message: 'timed out' };
const NOT_LOADED: Failure = { file: 'one.test.ts', message: 'Cannot find module' };
const UNHANDLED: Failure = { file: '', test: 'unhandled error', message: 'read ECONNRESET' };

const LINE_OF_ONE = 'one.test.ts > a host > answers > expected 1 to be 2';

test.each<[string, Outcome | '', Outcome | undefined, string[], number]>([
  ['all passed', { passed: 3, failures: [] }, undefined, ['3 passed, 0 failed'], 0],
  ['one failed', { passed: 2, failures: [ONE] }, undefined, [`failed: ${LINE_OF_ONE}`, '2 passed, 1 failed'], 1],
  [
    'a file did not load',
    { passed: 2, failures: [NOT_LOADED] },
    undefined,
    ['failed: one.test.ts > Cannot find module', '2 passed, 1 failed'],
    1,
  ],
  ['none ran', { passed: 0, failures: [] }, undefined, ['0 passed, 0 failed'], 1],
  ['there is no outcome', '', undefined, ['0 passed, 0 failed'], 1],
  [
    'a failure did not return',
    { passed: 2, failures: [ONE] },
    { passed: 1, failures: [] },
    [`failed once, passed when run alone: ${LINE_OF_ONE}`, '2 passed, 1 failed'],
    1,
  ],
  [
    'one of two failures returned',
    { passed: 2, failures: [ONE, TWO] },
    { passed: 1, failures: [TWO] },
    [
      `failed once, passed when run alone: ${LINE_OF_ONE}`,
      'failed: two.test.ts > a key > is read > timed out',
      '2 passed, 2 failed',
    ],
    1,
  ],
  [
    'another test of a failed file fails in the repetition',
    { passed: 2, failures: [ONE] },
    { passed: 1, failures: [{ ...ONE, test: 'a host > stops' }] },
    [`failed: ${LINE_OF_ONE}`, '2 passed, 1 failed'],
    1,
  ],
  [
    'nothing passed in the repetition',
    { passed: 2, failures: [ONE] },
    { passed: 0, failures: [] },
    [`failed: ${LINE_OF_ONE}`, '2 passed, 1 failed'],
    1,
  ],
  [
    'an error of no known file was not handled',
    { passed: 2, failures: [UNHANDLED] },
    { passed: 1, failures: [] },
    ['failed: unhandled error > read ECONNRESET', '2 passed, 1 failed'],
    1,
  ],
])('counts the tests when %s', (_, first, repeated, lines, status) => {
  const folder = temporaryTree({ first, ...(repeated && { repeated }) });
  const paths = [join(folder, 'first'), ...(repeated ? [join(folder, 'repeated')] : [])];
  const { status: code, stdout } = spawnSync(execPath, [script, ...paths], { encoding: 'utf8' });
  expect({ status: code, lines: stdout.trimEnd().split('\n') }).toEqual({ status, lines });
});

test.each<[string, Outcome, Outcome, string[], number]>([
  ['both passed', { passed: 3, failures: [] }, { passed: 2, failures: [] }, ['5 passed, 0 failed'], 0],
  [
    'the second failed',
    { passed: 3, failures: [] },
    { passed: 2, failures: [TWO] },
    ['failed: two.test.ts > a key > is read > timed out', '5 passed, 1 failed'],
    1,
  ],
  ['the second ran none', { passed: 3, failures: [] }, { passed: 0, failures: [] }, ['3 passed, 0 failed'], 1],
])('adds the tests of two runs when %s', (_, first, second, lines, status) => {
  const folder = temporaryTree({ first, second });
  // There was no need to repeat a file.
  const paths = ['first', 'first-repeated', 'second', 'second-repeated'].map((name) => join(folder, name));
  const { status: code, stdout } = spawnSync(execPath, [script, ...paths], { encoding: 'utf8' });
  expect({ status: code, lines: stdout.trimEnd().split('\n') }).toEqual({ status, lines });
});
