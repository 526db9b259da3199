import { parseArgs } from 'node:util';
import { TOLERANCE_SECONDS } from '../timestamp.ts';
import { type Capture, parseHeaders, parseRequest, readInput } from './capture.ts';
import { givenSecrets, SECRET_HELP, SECRET_OPTIONS } from './secrets.ts';
import { type Step, walkSteps } from './steps.ts';
import { paint, printable, type Terminal, UsageError } from './terminal.ts';

export const VERIFY_HELP: string = `Usage: svc-webhook verify [FILE]
       svc-webhook verify --headers FILE --body FILE

Tells which verification steps of a captured delivery pass, and which one fails.

FILE is the request as it was on the wire: header lines, an empty line, the body to the last byte.
Default: standard input.

Options:
${SECRET_HELP}
  --headers FILE       lines of "Name: value", or JSON
  --body FILE          the body's exact bytes
  --at SECONDS         judge freshness at this Unix time; "signed" takes the time of signing (default now)
  --tolerance SECONDS  the largest difference between the signing time and now (default ${TOLERANCE_SECONDS})
  --json               the steps as JSON

Exit code: 0 authentic and fresh, 1 not, 2 wrong use.
`;

/** Runs `svc-webhook verify`. @returns the exit code */
export async function verifyCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...SECRET_OPTIONS,
      headers: { type: 'string' },
      body: { type: 'string' },
      at: { type: 'string' },
      tolerance: { type: 'string' },
      json: { type: 'boolean' },
    },
  });
  if (positionals.length > 1)
    throw new UsageError('FILE: is given more than once. Pass one FILE, or none for standard input.');
  const at = values.at === 'signed' ? 'signed' : seconds('--at', values.at, terminal.now() / 1000) * 1000;
  const toleranceSeconds = seconds('--tolerance', values.tolerance, TOLERANCE_SECONDS);
  const secrets = await givenSecrets(values, terminal);
  const capture = await readCapture(values.headers, values.body, positionals[0] ?? '-', terminal);
  const steps = walkSteps(capture, { secrets, at, toleranceSeconds });
  terminal.stdout.write(values.json ? `${JSON.stringify(steps, undefined, 2)}\n` : report(steps, terminal));
  return steps.every(({ outcome }) => outcome === 'passed') ? 0 : 1;
}

async function readCapture(
  headers: string | undefined,
  body: string | undefined,
  file: string,
  { stdin }: Terminal,
): Promise<Capture> {
  if (headers === undefined && body === undefined) return parseRequest(await readInput(file, stdin));
  if (headers === undefined || body === undefined)
    throw new UsageError('--headers, --body: one is missing. Pass both, or one FILE with the whole request.');
  const head = Buffer.from(await readInput(headers, stdin)).toString('utf8');
  return { headers: parseHeaders(head), body: await readInput(body, stdin) };
}

function seconds(option: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^[0-9]{1,15}$/.test(text))
    throw new UsageError(`${option}: must be a whole number of seconds. Leave it out for the default.`);
  return Number(text);
}

const SIGNS = { passed: ['✓', 'green'], failed: ['✗', 'red'], 'not reached': ['·', 'dim'] } as const;

function report(steps: readonly Step[], terminal: Terminal): string {
  const lines = steps.map(({ name, outcome, note }) => {
    const [sign, colour] = SIGNS[outcome];
    const text = outcome === 'not reached' ? outcome : note;
    return `${paint(terminal, colour, sign)} ${name.padEnd(15)} ${printable(text)}`;
  });
  const failed = steps.find(({ outcome }) => outcome === 'failed');
  const verdict =
    failed === undefined
      ? paint(terminal, 'green', 'Authentic and fresh.')
      : paint(terminal, 'red', `Refused: ${failed.name}.`);
  return `${lines.join('\n')}\n${verdict}\n`;
}
