import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { CHECKS } from '../checks/index.ts';
import { FIXTURES } from '../fixtures.ts';
import { UsageError } from '../options.ts';
import { annotationsReport } from '../report/annotations.ts';
import { badgeReport } from '../report/badge.ts';
import { htmlReport } from '../report/html.ts';
import { junitReport } from '../report/junit.ts';
import { listOf, markdownOf } from '../report/list.ts';
import type { Report } from '../report/report.ts';
import { textReport } from '../report/text.ts';
import { runConformance } from '../suite.ts';
import { Unreachable } from '../target.ts';
import { VERSION } from '../version.ts';
import { type Arguments, readArguments } from './arguments.ts';
import { signedReport, verifyCommand } from './certify.ts';
import { HELP } from './help.ts';
import type { Terminal } from './terminal.ts';
import { nameOf, verdictOf } from './verdict.ts';

/**
 * Runs the command.
 *
 * @returns the exit code: 0 when no check failed, 1 when a check failed, 2 when nothing could be tested, 3 when the run
 * looked at less than it was required to
 */
export async function svcConformance(args: readonly string[], terminal: Terminal): Promise<number> {
  const { stdout, stderr } = terminal;
  if (args.includes('--help') || args.includes('-h')) return say(stdout, HELP);
  if (args.includes('--version')) return say(stdout, `svc-conformance ${VERSION}\n`);
  if (args.includes('--fixtures')) return say(stdout, `${JSON.stringify(FIXTURES, undefined, 2)}\n`);
  if (args.includes('--list')) return say(stdout, args.includes('--markdown') ? markdownOf(CHECKS) : listOf(CHECKS));
  try {
    const verified = verifiedFile(args);
    if (verified !== undefined) return verifyCommand(verified.path, verified.keys, terminal);
    const asked = readArguments(args, terminal);
    if (asked.exposed.length > 0) {
      const names = asked.exposed.map((name) => `--${name}`).join(', ');
      stderr.write(
        `svc-conformance: ${names}: other users of this machine can read arguments. Pass keys in the environment.\n`,
      );
    }
    return await run(asked, terminal);
  } catch (error) {
    if (terminal.interrupted.aborted) return interrupted(terminal);
    if (!(error instanceof UsageError || error instanceof Unreachable)) throw error;
    stderr.write(`svc-conformance: ${error.message}\nRun svc-conformance --help for the options.\n`);
    return 2;
  }
}

/** Reads `--verify FILE --public-key ID=KEY`, which takes no other options. */
function verifiedFile(args: readonly string[]) {
  if (!args.some((arg) => arg === '--verify' || arg.startsWith('--verify='))) return undefined;
  const options = { verify: { type: 'string' }, 'public-key': { type: 'string', multiple: true } } as const;
  try {
    const { verify = '', 'public-key': keys = [] } = parseArgs({ args: [...args], options }).values;
    return { path: verify, keys };
  } catch {
    throw new UsageError('--verify: takes a file and --public-key ID=KEY alone. Leave other arguments out.');
  }
}

async function run(
  { options, json, junit, html, badge, bundle, ...asked }: Arguments,
  terminal: Terminal,
): Promise<number> {
  const { stdout, stderr } = terminal;
  const report = await runConformance({ ...options, signal: terminal.interrupted });
  if (json === '-') stdout.write(jsonText(report));
  else stdout.write(textReport(report, { colours: terminal.colours, failuresOnly: asked.failuresOnly }));
  if (json !== undefined && json !== '-') write(json, jsonText(report));
  if (junit !== undefined) write(junit, junitReport(report));
  if (html !== undefined) write(html, htmlReport(report));
  if (badge !== undefined) write(badge, badgeReport(report));
  // An interrupted run has looked at little, and nothing is certified by it.
  if (bundle !== undefined && !terminal.interrupted.aborted) write(bundle.file, signedReport(report, bundle, terminal));
  if (terminal.interrupted.aborted) return interrupted(terminal);
  if (asked.github) stderr.write(annotationsReport(report));
  const { exitCode, failures, skips, outdated } = verdictOf(report, asked.rules);
  const known = report.summary.failed - failures.length;
  if (known > 0) stderr.write(`svc-conformance: ${known} failures are in the baseline and do not count.\n`);
  for (const skip of skips) stderr.write(`svc-conformance: ${nameOf(skip)} was skipped: ${skip.reason}.\n`);
  for (const name of outdated)
    stderr.write(`svc-conformance: ${name} is listed as expected, and no longer occurs. Remove it from the file.\n`);
  return exitCode;
}

function interrupted({ stderr }: Terminal): number {
  stderr.write('svc-conformance: interrupted. Runs and subscriptions of the suite were cleaned up.\n');
  return 2;
}

function jsonText(report: Report): string {
  return `${JSON.stringify(report, undefined, 2)}\n`;
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    const why = error instanceof Error ? error.message : error;
    throw new UsageError(`${path}: cannot be written (${why}). Pass a path in a writable folder.`);
  }
}

function say(stdout: Terminal['stdout'], text: string): number {
  stdout.write(text);
  return 0;
}
