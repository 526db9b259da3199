import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { clockOf } from '../clock-of.ts';
import type { Lane } from '../lane.ts';
import { capturedHead } from './capture.ts';
import { type ExplainedStep, type Explanation, explainRequest } from './explain.ts';
import { type ExplainTerminal, ExplainUsageError } from './terminal.ts';

/** A command that explains captured requests with the lanes of one program. */
export interface ExplainProgram {
  /** The name with which it is called, for its messages, e.g. `svc-auth explain`. */
  readonly name: string;
  /**
   * Makes the lanes that a configuration file describes, with a clock that stands at the time of the judgement.
   *
   * @throws {ExplainUsageError} when the configuration cannot be used
   */
  readonly lanesOf: (file: string, now: () => number) => Promise<readonly Lane[]>;
}

/**
 * Runs a command that explains why a captured request is refused.
 *
 * @returns the exit code: 0 the request is accepted, 1 it is refused, 2 wrong use or a bad configuration
 * @example
 * const program = { name: 'my-host explain', lanesOf };
 * process.exitCode = await explainCommand(process.argv.slice(2), process, program);
 */
export async function explainCommand(
  args: readonly string[],
  terminal: ExplainTerminal,
  program: ExplainProgram,
): Promise<number> {
  const { stdin, stdout, stderr } = terminal;
  const now = clockOf('explainCommand', terminal.now);
  if (args.includes('--help') || args.includes('-h')) {
    stdout.write(helpOf(program.name));
    return 0;
  }
  try {
    return await run(args, { stdin, stdout, stderr, now }, program);
  } catch (error) {
    // parseArgs throws a TypeError for an unknown option, and a lane one for an invalid configuration.
    if (!(error instanceof ExplainUsageError || error instanceof TypeError)) throw error;
    stderr.write(`${program.name}: ${error.message}\n${program.name} --help describes the arguments.\n`);
    return 2;
  }
}

function helpOf(name: string): string {
  return `Usage: ${name} --config FILE [CAPTURE]

Tells why a host refuses a captured request: the lane that decides, each check, and the remedy.
CAPTURE is the head of the request as it was on the wire, or the output of curl -v. Default: standard input.

Options:
  --config FILE   the configuration with keys and issuers
  --at TIME       judges at this time: seconds since 1970, or a date such as 2026-06-01T08:00:00Z (default now)
  --peer ADDRESS  the address of the other end of the connection; a forwarded certificate is read from a trusted one alone
  --scope SCOPE   asks for this scope, too
  --json          prints the explanation as JSON

No secret and no whole token is printed. Limits are not judged, nor the proofs that the host has seen.

Exit code: 0 accepted, 1 refused, 2 wrong use or a bad configuration.
`;
}

async function run(
  args: readonly string[],
  { stdin, stdout, now }: Required<ExplainTerminal>,
  program: ExplainProgram,
): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      config: { type: 'string' },
      at: { type: 'string' },
      peer: { type: 'string' },
      scope: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const { config } = values;
  if (config === undefined) throw new ExplainUsageError('--config: is missing. Pass the configuration.');
  const [file = '-', ...others] = positionals;
  if (others.length > 0) throw new ExplainUsageError('CAPTURE: must be given once. Pass one file, or standard input.');
  const at = timeIn(values.at) ?? now();
  const lanes = await program.lanesOf(config, () => at);
  const head = capturedHead(await textOf(file, stdin), values.peer);
  const explanation = await explainRequest(head, { lanes, at, scope: values.scope });
  stdout.write(values.json ? `${JSON.stringify(explanation, undefined, 2)}\n` : reportOf(explanation));
  return explanation.accepted ? 0 : 1;
}

function timeIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = /^\d{1,12}$/.test(text) ? Number(text) * 1000 : DATE.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new ExplainUsageError('--at: must be a time. Pass seconds since 1970, or a date such as 2026-06-01T08:00:00Z.');
}

const DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?(?:Z|[+-]\d{2}:\d{2})$/;

async function textOf(file: string, stdin: Readable): Promise<string> {
  if (file !== '-') {
    try {
      return await readFile(file, 'latin1');
    } catch {
      throw new ExplainUsageError('CAPTURE: cannot be read. Check the path and its permissions.');
    }
  }
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('latin1');
}

const SIGNS = { passed: '✓', failed: '✗', 'not reached': '·' } as const;

function reportOf({ accepted, lane, code, status, reason, steps, principal }: Explanation): string {
  const lines = [
    lane === 'none' ? 'No lane knows the credential.' : `The lane ${lane} decides.`,
    ...steps.flatMap(linesOf),
    accepted ? 'Accepted.' : `Refused: ${status} ${code} (${reason}).`,
  ];
  if (principal !== undefined) {
    const { id, tenancy, scopes } = principal;
    const reach = tenancy.workspaces === 'all' ? 'all workspaces' : `workspaces ${tenancy.workspaces.join(', ')}`;
    lines.push(
      `Principal ${id}, tenant ${tenancy.tenant} (${tenancy.mode}), ${reach}, scopes ${scopes.join(' ') || 'none'}.`,
    );
  }
  return `${lines.join('\n')}\n`;
}

function linesOf({ name, outcome, note, remedy }: ExplainedStep): readonly string[] {
  const text = outcome === 'not reached' ? outcome : note;
  const line = `${SIGNS[outcome]} ${name.padEnd(12)} ${text}`.trimEnd();
  return remedy === undefined ? [line] : [line, `  ${''.padEnd(12)} ${remedy}`];
}
