import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process, { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';

/** A mutant that loops without end is killed after this time, besides the usual time of its tests. */
const TIMEOUT_MS = 10_000;

const CONFIG = 'stryker.config.json';
const REPORT = 'mutation-report.json';

/**
 * Mutates files in a copy of the checkout, and runs the tests on each mutant.
 *
 * @param {string} folder the copy
 * @param {readonly string[]} paths of the files
 * @param {readonly string[]} tests the paths of the test files
 * @param {number} concurrency how many mutants run at a time
 * @returns {Promise<Record<string, import('./score.mjs').MutatedFile>>} the mutants by file
 * @throws {Error} when Stryker fails: the tests must pass without a mutant
 */
export async function mutate(folder, paths, tests, concurrency) {
  const report = join(folder, REPORT);
  rmSync(report, { force: true });
  writeFileSync(join(folder, 'vitest.config.mjs'), vitestConfig(tests));
  writeFileSync(join(folder, CONFIG), JSON.stringify(strykerConfig(paths, concurrency)));
  const stryker = spawn(execPath, [STRYKER, 'run', CONFIG], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  // A run that is ended takes Stryker with it, and Stryker its workers.
  const end = () => stryker.kill();
  process.once('exit', end);
  const output = [];
  stryker.stdout.on('data', (chunk) => output.push(chunk));
  const [code] = await once(stryker, 'close');
  process.off('exit', end);
  if (code !== 0 || !existsSync(report)) throw new Error(`${Buffer.concat(output)}\nStryker failed. Its log is above.`);
  return JSON.parse(readFileSync(report, 'utf8')).files;
}

const STRYKER = fileURLToPath(new URL('./node_modules/@stryker-mutator/core/bin/stryker.js', import.meta.url));

function strykerConfig(paths, concurrency) {
  return {
    mutate: paths,
    // The copy is there to be changed.
    inPlace: true,
    testRunner: 'vitest',
    plugins: [createRequire(import.meta.url).resolve('@stryker-mutator/vitest-runner')],
    vitest: { configFile: 'vitest.config.mjs', related: false },
    // Each mutant runs against the tests that reach it.
    coverageAnalysis: 'perTest',
    // Most texts are sentences of messages, which no test should repeat word by word.
    mutator: { excludedMutations: ['StringLiteral'] },
    disableTypeChecks: false,
    concurrency,
    timeoutMS: TIMEOUT_MS,
    reporters: ['json'],
    jsonReporter: { fileName: REPORT },
    logLevel: 'warn',
    fileLogLevel: 'off',
    allowConsoleColors: false,
  };
}

/** The tests run from source, as those of `npm test`. */
function vitestConfig(tests) {
  const conditions = ['@svc/source', 'node'];
  const test = { include: tests, testTimeout: 30_000, hookTimeout: 60_000 };
  return `export default ${JSON.stringify({ resolve: { conditions }, ssr: { resolve: { conditions } }, test })};\n`;
}
