import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryTree } from './temporary-tree.ts';

const script = fileURLToPath(new URL('./count-tests.mjs', import.meta.url));

function count(report: unknown) {
  const path = join(temporaryTree({ 'report.json': report }), 'report.json');
  const { status, stdout } = spawnSync(execPath, [script, path], { encoding: 'utf8' });
  return { status, line: stdout.trim() };
}

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((status) => ({ status })),
});

test.each([
  [
    'all passed',
    { numPassedTests: 3, numFailedTests: 0, testResults: [file('passed', 'passed')] },
    '3 passed, 0 failed',
    0,
  ],
  [
    'one failed',
    { numPassedTests: 2, numFailedTests: 1, testResults: [file('failed', 'failed')] },
    '2 passed, 1 failed',
    1,
  ],
  [
    'a file did not load',
    { numPassedTests: 2, numFailedTests: 0, testResults: [file('failed')] },
    '2 passed, 1 failed',
    1,
  ],
  ['none ran', { numPassedTests: 0, numFailedTests: 0, testResults: [] }, '0 passed, 0 failed', 1],
  ['there is no report', '', '0 passed, 0 failed', 1],
])('counts the tests when %s', (_, report, line, status) => {
  expect(count(report)).toEqual({ status, line });
});
