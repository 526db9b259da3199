/**
 * Everything that is checked besides the tests, each step named with its duration: `npm run check`. Every step runs, even after a
 * failure, and the failures are listed at the end. `npm run check -- imports style` runs single steps. `SVC_OUTCOME` names a file for
 * the outcome, which `.ci/run` reads.
 */
import { writeFileSync } from 'node:fs';
import { argv, env, execPath, exit } from 'node:process';
import { build } from './bootstrap/build.mjs';
import { run } from './bootstrap/children.mjs';
import { withLock } from './bootstrap/lock.mjs';

/**
 * A step is a command for this Node, or a function that throws; `built` steps check the output of the build. A step with
 * `isGenerated` holds a generated file to its sources: `npm run generate` writes them all.
 *
 * Each stage begins when the one before it has ended. Its two lanes run side by side and take about the same time.
 */
const STAGES = [
  [[{ name: 'build', run: () => withLock('.cache/set-up.lock', () => build(execPath)) }]],
  [
    // The build of the site writes `docs/reference`, which the steps of the next stage walk through.
    [
      { name: 'site', command: ['docs/site/build.mjs'] },
      { name: 'docstrings', command: ['docs/site/docstrings.mjs'] },
      { name: 'api', command: ['docs/site/api.mjs', '--check'], isGenerated: true, built: true },
      { name: 'types', command: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.test.json'] },
    ],
    [
      { name: 'packages', command: ['tools/check-package.mjs'], built: true },
      { name: 'entries', command: ['tools/check-entries.mjs'], built: true },
      { name: 'promises', command: ['tools/check-promises.mjs'] },
      { name: 'imports', command: ['tools/check-imports.mjs'] },
      { name: 'clocks', command: ['tools/check-clocks.mjs'] },
      { name: 'licences', command: ['tools/check-licences.mjs'], built: true },
      { name: 'changesets', command: ['tools/check-changesets.mjs'] },
      { name: 'versions', command: ['tools/write-versions.mjs', '--check'], isGenerated: true },
      { name: 'events', command: ['packages/host-kit/write-event-names.mjs', '--check'], isGenerated: true },
      { name: 'manifests', command: ['tools/write-manifests.mjs', '--check'], isGenerated: true },
    ],
  ],
  [
    [{ name: 'snippets', command: ['tools/check-snippets.mjs'], built: true }],
    [
      { name: 'style', command: ['node_modules/@biomejs/biome/bin/biome', 'ci', '--colors=off', '.'] },
      { name: 'sentences', command: ['tools/check-sentences.mjs'] },
      { name: 'requirements', command: ['tools/check-requirements.mjs'] },
      { name: 'threat-model', command: ['tools/check-threat-model.mjs'] },
      { name: 'interface', command: ['tools/write-interface.mjs', '--check'], isGenerated: true },
      { name: 'commands', command: ['tools/check-commands.mjs'] },
      { name: 'node', command: ['tools/check-node-versions.mjs'] },
      {
        name: 'board',
        command: ['deploy/grafana/write-board.mjs', '--check'],
        mend: 'node deploy/grafana/write-board.mjs',
      },
    ],
  ],
];
const STEPS = STAGES.flat(2);

/** Of the finding of one step, in its outcome. */
const MOST_LINES = 12;

const failures = [];
const chosen = chooseSteps(argv.slice(2));
for (const stage of STAGES)
  await Promise.all(stage.map((lane) => takeInTurn(lane.filter((step) => chosen.includes(step)))));
if (env.SVC_OUTCOME !== undefined) writeFileSync(env.SVC_OUTCOME, JSON.stringify(outcomeOf(failures)));
for (const { name, finding } of failures) console.error(`\n── ${name} ──\n${finding.trim()}`);
const names = failures.map(({ name }) => name).join(', ');
console.log(failures.length === 0 ? '\nAll checks passed.' : `\nFailed: ${names}.`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** All steps, or the named ones. A `built` step brings the build along. */
function chooseSteps(names) {
  const unknown = names.filter((wanted) => !STEPS.some(({ name }) => name === wanted));
  if (unknown.length > 0) {
    console.error(`No such step: ${unknown.join(', ')}. There are: ${STEPS.map(({ name }) => name).join(', ')}.`);
    exit(2);
  }
  const isNamed = ({ name }) => names.length === 0 || names.includes(name);
  const needsBuild = STEPS.some((step) => step.built && isNamed(step));
  return STEPS.filter((step) => isNamed(step) || (step.name === 'build' && needsBuild));
}

/** The checks as an outcome of `.ci/run`. They are no tests, so none of them counts as passed. */
function outcomeOf(failures) {
  return {
    passed: 0,
    failures: failures.map(({ name, finding, mend }) => ({
      ...{ file: '', test: name, mend },
      message: finding.trim().split('\n').slice(0, MOST_LINES).join('\n'),
    })),
  };
}

async function takeInTurn(steps) {
  for (const step of steps) {
    const { outcome, finding, seconds } = await take(step);
    console.log(`${outcome.padEnd(7)} ${step.name.padEnd(12)} ${seconds} s`);
    if (finding !== undefined)
      failures.push({ name: step.name, finding, mend: step.isGenerated ? 'npm run generate' : step.mend });
  }
}

async function take(step) {
  const start = performance.now();
  const isBlocked = step.built && failures.some(({ name }) => name === 'build');
  const finding = isBlocked ? 'Not looked at: the build failed.' : await findingOf(step);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  return { outcome: finding === undefined ? 'passed' : 'FAILED', finding, seconds };
}

async function findingOf(step) {
  if (step.command === undefined) {
    return step.run().then(
      () => undefined,
      (error) => error.message,
    );
  }
  const { code, output } = await run(execPath, step.command, { env: { ...process.env, NO_COLOR: '1' } });
  return code === 0 ? undefined : output || `exit code ${code}`;
}
