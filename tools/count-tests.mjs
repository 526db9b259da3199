/**
 * `node tools/count-tests.mjs REPORT` says in one line what vitest's JSON report counted, and fails when a test failed or none
 * ran. It runs on whatever Node a machine has.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

/**
 * A file that could not be loaded has no tests to count, and counts as one that failed.
 *
 * @param {string} text the report; empty when vitest did not get to write it
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
