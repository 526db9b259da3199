/**
 * Runs everything that a change has to pass, and tells apart why it did not: `.ci/run`. `.ci/run check tests` runs single steps. It
 * runs on any Node.
 *
 * The evidence is in `.ci-out/`: a log and an outcome for each step, the logs of the hosts of failed tests, the state of the
 * machine before the run (`environment.txt`) and during it (`load.csv`), and the verdict (`result.json`).
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { freemem, loadavg } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { argv, env, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { installAll } from './installs.mjs';
import { preflight } from './preflight.mjs';
import { endRunning, runCommand, tailOf } from './step.mjs';
import { BUDGETS, STAGES } from './steps.mjs';
import { exitCodeOf, lastPage, unsteadyCandidates, verdictOf, worstOf } from './verdict.mjs';

/**
 * @import { Step } from './steps.mjs'
 * @import { Result } from './verdict.mjs'
 */

const SAMPLE_MS = 10_000;

/** Where installations go through; a test that calls this machine must not. */
const PROXIES = ['http_proxy', 'https_proxy', 'all_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];

/**
 * Runs stages of steps, and prints a line when one has ended.
 *
 * @param {readonly (readonly (readonly Step[])[])[]} stages
 * @param {{ out: string, temporary: string, say?: (line: string) => void }} places
 * @returns {Promise<Result[]>}
 */
export async function runStages(stages, { out, temporary, say = console.log }) {
  const results = [];
  for (const stage of stages) {
    const lane = async (steps) => {
      for (const step of steps) {
        const result = await takeStep(step, { out, temporary });
        results.push(result);
        say(`${result.verdict.padEnd(12)} ${step.name.padEnd(12)} ${result.seconds.toFixed(0).padStart(5)} s`);
      }
    };
    await Promise.all(stage.map(lane));
  }
  return results;
}

async function takeStep(step, { out, temporary }) {
  const { name, command, environment, limitMinutes } = step;
  const first = await runCommand({ name, command, environment, limitMinutes, out, temporary });
  const files = first.isTimedOut || step.again === undefined ? [] : unsteadyCandidates(first.outcome);
  const repeated =
    files.length === 0
      ? undefined
      : await runCommand({
          ...{ name: `${name}-again`, command: step.again(files), environment, limitMinutes, out, temporary },
        });
  const log = join(out, `${name}.log`);
  const hosts = join(out, 'hosts', name);
  const failures = [...first.outcome.failures, ...first.left.map((message) => ({ file: '', message }))].map(
    (failure) => {
      const path = join(hosts, `${failure.file.replaceAll('/', '.')}.log`);
      return existsSync(path) ? { ...failure, log: relative('.', path) } : failure;
    },
  );
  keepOnly(
    hosts,
    failures.map(({ file }) => `${file.replaceAll('/', '.')}.log`),
  );
  const verdict = verdictOf({
    ...{ code: first.code, isTimedOut: first.isTimedOut, hasTests: step.again !== undefined, tail: tailOf(log) },
    ...{ first: { ...first.outcome, failures }, repeated: repeated?.outcome },
  });
  return { ...verdict, name, seconds: first.seconds + (repeated?.seconds ?? 0), log: relative('.', log) };
}

/** The logs of hosts fill a disk; those of passed tests tell nothing. */
function keepOnly(folder, names) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) if (!names.includes(name)) rmSync(join(folder, name));
}

/** Runs a function as a step. Each sentence that it returns is a finding. */
async function inProcess(name, work) {
  const started = performance.now();
  const findings = await work();
  const seconds = (performance.now() - started) / 1000;
  return { name, verdict: findings.length === 0 ? 'green' : 'infrastructure', seconds, passed: 0, findings };
}

async function main(names) {
  const started = performance.now();
  const stages = stagesOf(names);
  const [out, temporary] = [resolve('.ci-out'), env.TMPDIR ?? '/tmp'];
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      endRunning();
      exit(1);
    });
  }
  const seed = seedOfTree();
  env.SVC_PROPERTY_SEED ??= String(seed);
  env.SVC_SOAK_SEED ??= String(seed % 1_000_000);
  const { lines, problems } = preflight({ temporary });
  lines.push(`seed       ${seed}, of the tree ${git('rev-parse', '--short', 'HEAD^{tree}')}`);
  console.log(lines.join('\n'));
  writeFileSync(join(out, 'environment.txt'), `${lines.join('\n')}\n`);
  const sampling = setInterval(() => sample(out), SAMPLE_MS);
  const results = [await inProcess('preflight', () => problems)];
  if (problems.length === 0) results.push(await inProcess('install', installAll));
  if (results.every(({ verdict }) => verdict === 'green')) {
    for (const name of PROXIES) delete env[name];
    results.push(...(await runStages(stages, { out, temporary })));
  }
  clearInterval(sampling);
  finish(results, out, (performance.now() - started) / 1000);
}

/** All stages, or those with the named steps. */
function stagesOf(names) {
  const known = STAGES.flat(2).map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    console.error(`No such step: ${unknown.join(', ')}. There are: ${known.join(', ')}.`);
    exit(2);
  }
  if (names.length === 0) return STAGES;
  return STAGES.map((stage) => stage.map((lane) => lane.filter(({ name }) => names.includes(name))));
}

function finish(results, out, seconds) {
  const tests = results.find(({ name }) => name === 'tests')?.seconds;
  const notes = [
    ...(tests === undefined
      ? []
      : [`npm test took ${tests.toFixed(0)} s; its budget on two quiet cores is ${BUDGETS.tests} s.`]),
    `.ci/run took ${seconds.toFixed(0)} s; its budget on two quiet cores is ${BUDGETS.all} s.`,
  ];
  const verdict = worstOf(results);
  writeFileSync(join(out, 'result.json'), `${JSON.stringify({ verdict, seconds, results }, null, 2)}\n`);
  console.log(`\n${lastPage(results, notes)}`);
  exit(exitCodeOf(verdict));
}

/** Properties and soaks draw from it, so two runs of one tree judge the same values, and other trees judge others. */
function seedOfTree() {
  return Number.parseInt(git('rev-parse', 'HEAD^{tree}').slice(0, 8), 16) >>> 1;
}

function git(...args) {
  return spawnSync('git', args, { encoding: 'utf8' }).stdout.trim();
}

function sample(out) {
  const cells = [new Date().toISOString(), loadavg()[0].toFixed(2), Math.round(freemem() / 1024 ** 2)];
  appendFileSync(join(out, 'load.csv'), `${cells.join(',')}\n`);
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) await main(argv.slice(2));
