/**
 * The steps of `.ci/run`. Each stage begins when the one before it has ended; its lanes run side by side. The cheap checks come
 * first: they find most mistakes, in a minute.
 *
 * @typedef {object} Step
 * @property {string} name
 * @property {readonly string[]} command writes its outcome into the file that `SVC_OUTCOME` names, if it has one to tell
 * @property {Record<string, string>} [environment]
 * @property {number} limitMinutes twice its time on two quiet cores, or more
 * @property {(files: readonly string[]) => readonly string[]} [again] the command that runs failed files once more, alone
 */

const REPORTERS = ['--reporter=default', '--reporter=./tools/ci/outcome-reporter.ts'];

function tests(name, limitMinutes, args, environment) {
  const command = ['npm', 'run', 'test', '--', ...args, ...REPORTERS];
  const alone = ['--no-file-parallelism', ...REPORTERS];
  return {
    ...{ name, limitMinutes, command, environment },
    again: (files) => ['npm', 'run', 'test', '--', ...alone, ...files],
  };
}

/** @type {readonly (readonly (readonly Step[])[])[]} */
export const STAGES = [
  [[{ name: 'check', limitMinutes: 15, command: ['npm', 'run', 'check'] }]],
  [[tests('tests', 40, [])]],
  [[tests('ci-only', 40, ['--project', 'ci-only'])]],
  // The suites wait for browsers, brokers and engines for most of their time.
  [
    [
      {
        ...{ name: 'suites', limitMinutes: 40, command: ['npm', 'run', 'suites'] },
        again: (suites) => ['npm', 'run', 'suites', '--', ...suites],
      },
    ],
    [
      { name: 'faults', limitMinutes: 20, command: ['npm', 'run', 'faults', '--', '--count', '60', '--seed', '1'] },
      { name: 'mutants', limitMinutes: 30, command: ['npm', 'run', 'mutate', '--', '--ci'] },
      tests('simulation', 20, ['simulation'], { SVC_SEEDS: '2000' }),
    ],
  ],
];

/** The promised durations on two quiet cores, in seconds. Printed beside the real ones, and never a failure. */
export const BUDGETS = { tests: 180, all: 1200 };
