/**
 * `node tools/count-tests.mjs REPORT` prints the counts of vitest's JSON report in one line, and fails when a test
 * failed or none ran. It runs on any Node.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

/**
 * Counts the tests of a report. A file that could not be loaded counts as one failed test.
 *
 * @param {string} text the report; empty when vitest ended before it wrote one
 * @returns {{ passed: number, failed: number }}
 */
export function countTests(text) {
  if (text.trim() === '') return { passed: 0, failed: 0 };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(text);
  const broken = testResults.filter(({ status, assertionResults }) => {
    return status === 'failed' && !assertionResults.some((result) => result.status === 'failed');
  });
  return { passed: numPassedTests, failed: numFailedTests + broken.length };
}

function main(path) {
  const { passed, failed } = countTests(readFileSync(path, 'utf8'));
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main(argv[2]);
