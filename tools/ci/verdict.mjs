/**
 * Judges what the steps of `.ci/run` found. Pure: it runs on any Node, and its tests need no process.
 *
 * @import { Failure, Outcome } from './outcome.ts'
 *
 * @typedef {'green' | 'green-flaky' | 'stale' | 'infrastructure' | 'broken'} Verdict
 * - `green`: all passed at the first try.
 * - `green-flaky`: all passed; some failed once, and passed when their file ran again alone.
 * - `stale`: only generated files differ. The finding names the command that writes them.
 * - `infrastructure`: an installation, a download or a time limit. It says nothing about the change.
 * - `broken`: anything else.
 *
 * @typedef {{ name: string, verdict: Verdict, seconds: number, passed: number, findings: readonly string[], log?: string }} Result
 */

/** From the mildest to the worst: a run is as bad as its worst step. */
const VERDICTS = ['green', 'green-flaky', 'stale', 'infrastructure', 'broken'];

/** More files than this that fail once and then pass are no accident. */
export const MOST_UNSTEADY_FILES = 3;

/** A failure in one of these files tells of lost or doubled data, so a second run that passes does not acquit it. */
const EVIDENCE =
  /soak|simulation|faults|crash|kill|two-hosts|back-to-back|rolling-restart|idempotency|interleavings|write-ahead-log|backup|surroundings/;

/**
 * The files of a step that get a second run.
 *
 * @param {Outcome} first
 * @returns {string[]} none when a failure belongs to no file, or when too many files failed to be an accident
 */
export function unsteadyCandidates({ failures }) {
  const files = [...new Set(failures.map(({ file }) => file))];
  if (files.length > MOST_UNSTEADY_FILES || files.includes('')) return [];
  return files.filter((file) => !EVIDENCE.test(file));
}

/**
 * Judges one step.
 *
 * @param {{ code: number, isTimedOut?: boolean, hasTests?: boolean, first: Outcome, repeated?: Outcome, tail?: string }} step `first` has no
 *   test and no failure when the step wrote no outcome; `tail` is the end of its log, which then tells the reason
 * @returns {{ verdict: Verdict, passed: number, findings: string[] }}
 */
export function verdictOf({ code, isTimedOut = false, hasTests = false, first, repeated, tail = '' }) {
  const { passed, failures } = first;
  if (isTimedOut)
    return { verdict: 'infrastructure', passed, findings: ['It did not end within its time limit.', tail] };
  if (failures.length === 0) {
    if (code === 0 && hasTests && passed === 0) return { verdict: 'broken', passed, findings: ['No test ran.', tail] };
    return code === 0
      ? { verdict: 'green', passed, findings: [] }
      : { verdict: 'broken', passed, findings: [`It ended with exit code ${code}.`, tail] };
  }
  if (failures.every(({ mend }) => mend !== undefined)) {
    return {
      verdict: 'stale',
      passed,
      findings: failures.map((failure) => `${lineOf(failure)}\nRun: ${failure.mend}`),
    };
  }
  const acquitted = acquittedFiles(first, repeated);
  const [once, twice] = [[], []];
  for (const failure of failures) (acquitted.has(failure.file) ? once : twice).push(failure);
  return {
    verdict: twice.length > 0 ? 'broken' : 'green-flaky',
    passed: passed + once.length,
    findings: [
      ...twice.map((failure) => `failed: ${lineOf(failure)}`),
      ...once.map((failure) => `${ONCE}${lineOf(failure)}`),
    ],
  };
}

/** The files that ran again and had no failure. A second run in which no test passed acquits none. */
function acquittedFiles(first, repeated) {
  if (repeated === undefined || repeated.passed === 0) return new Set();
  const failsAgain = (file) => repeated.failures.some((failure) => failure.file === file || failure.file === '');
  return new Set(unsteadyCandidates(first).filter((file) => !failsAgain(file)));
}

/**
 * The verdict of a whole run.
 *
 * @param {readonly Result[]} results
 * @returns {Verdict}
 */
export function worstOf(results) {
  const unsteady = results.filter(({ verdict }) => verdict === 'green-flaky').flatMap(({ findings }) => findings);
  if (unsteady.length > MOST_UNSTEADY_FILES) return 'broken';
  const worst = Math.max(...results.map(({ verdict }) => VERDICTS.indexOf(verdict)));
  return /** @type {Verdict} */ (VERDICTS[worst]);
}

/** The exit code of a verdict: 75 is `EX_TEMPFAIL` of sysexits, "try again". */
export function exitCodeOf(verdict) {
  if (verdict === 'green' || verdict === 'green-flaky') return 0;
  return verdict === 'infrastructure' ? 75 : 1;
}

/**
 * The last page of a run: a line for each step, its findings below it, the verdict, and the count of tests in the last line.
 *
 * @param {readonly Result[]} results
 * @param {readonly string[]} notes lines before the verdict
 * @returns {string}
 */
export function lastPage(results, notes = []) {
  const verdict = worstOf(results);
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  const failed = results.reduce(
    (sum, { verdict, findings }) =>
      sum + (isRed(verdict) ? findings.filter((finding) => !finding.startsWith(ONCE)).length : 0),
    0,
  );
  return [
    ...results.map(pageOf),
    ...notes,
    `verdict: ${verdict}${exitCodeOf(verdict) === 75 ? ' (it says nothing about the change; run it again)' : ''}`,
    `${passed} passed, ${isRed(verdict) ? Math.max(failed, 1) : 0} failed`,
  ].join('\n');
}

function pageOf({ name, verdict, seconds, passed, findings, log }) {
  const head = [
    isRed(verdict) ? `FAILED ${verdict}` : verdict,
    `${seconds.toFixed(0).padStart(5)} s`,
    name + (passed > 0 ? `: ${passed} passed` : ''),
    ...(log === undefined || !isRed(verdict) ? [] : [`(${log})`]),
  ];
  const shown = findings.filter((finding) => finding !== '').slice(0, MOST_SHOWN);
  const more = findings.length > MOST_SHOWN ? [`and ${findings.length - MOST_SHOWN} more`] : [];
  const indented = [...shown, ...more].flatMap((finding) => finding.split('\n')).map((line) => `    ${line}`);
  return [head.join('  '), ...indented].join('\n');
}

const MOST_SHOWN = 20;

/** Begins the finding of a test that counts as passed. */
const ONCE = 'failed once, passed when run alone: ';

function isRed(verdict) {
  return exitCodeOf(verdict) !== 0;
}

function lineOf({ file, test, message, log }) {
  const line = [file, test, message].filter(Boolean).join(' > ');
  return log === undefined ? line : `${line} (its hosts: ${log})`;
}
