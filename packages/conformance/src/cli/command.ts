import { writeFileSync } from 'node:fs';
import { CHECKS } from '../checks/index.ts';
import { UsageError } from '../options.ts';
import { junitReport } from '../report/junit.ts';
import { listOf, markdownOf } from '../report/list.ts';
import type { Report } from '../report/report.ts';
import { textReport } from '../report/text.ts';
import { runConformance } from '../suite.ts';
import { Unreachable } from '../target.ts';
import { VERSION } from '../version.ts';
import { type Arguments, readArguments } from './arguments.ts';
import { HELP } from './help.ts';
import type { Terminal } from './terminal.ts';

/**
 * Runs the command.
 *
 * @returns the exit code: 0 when no check failed, 1 when a check failed, 2 when nothing could be tested
 */
export async function svcConformance(args: readonly string[], terminal: Terminal): Promise<number> {
  const { stdout, stderr } = terminal;
  if (args.includes('--help') || args.includes('-h')) return say(stdout, HELP);
  if (args.includes('--version')) return say(stdout, `svc-conformance ${VERSION}\n`);
  if (args.includes('--list')) return say(stdout, args.includes('--markdown') ? markdownOf(CHECKS) : listOf(CHECKS));
  try {
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

async function run({ options, json, junit, failOnSkipped }: Arguments, terminal: Terminal): Promise<number> {
  const { stdout } = terminal;
  const report = await runConformance({ ...options, signal: terminal.interrupted });
  if (json === '-') stdout.write(jsonText(report));
  else stdout.write(textReport(report, terminal));
  if (json !== undefined && json !== '-') write(json, jsonText(report));
  if (junit !== undefined) write(junit, junitReport(report));
  if (terminal.interrupted.aborted) return interrupted(terminal);
  const { failed, skipped } = report.summary;
  return failed > 0 || (failOnSkipped && skipped > 0) ? 1 : 0;
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
