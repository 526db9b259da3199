import { parseArgs } from 'node:util';
import { HEADER_NAMES, type HeaderFamily } from '../headers.ts';
import { signDelivery } from '../sign.ts';
import { readInput } from './capture.ts';
import { givenSecrets, SECRET_HELP, SECRET_OPTIONS } from './secrets.ts';
import { type Terminal, UsageError } from './terminal.ts';

export const SIGN_HELP: string = `Usage: svc-webhook sign [BODY-FILE]

Prints the headers of a delivery with this body. Without BODY-FILE, or with -: standard input.

Options:
${SECRET_HELP}
  --webhook-id ID      the subscription's id (default whk_test)
  --event-type TYPE    default: event.type of the body
  --timestamp SECONDS  Unix time of signing (default now)
  --family FAMILY      SVC for the SVC-… headers, X-svc for the X-svc-… headers, or both (default both)
  --format FORMAT      lines, json, or curl (default lines)
  --url URL            where the curl command posts to (default http://localhost:8788/)

Exit code: 0 signed, 2 wrong use.
`;

const FAMILIES: ReadonlyMap<string, readonly HeaderFamily[]> = new Map([
  ['SVC', ['SVC']],
  ['X-svc', ['X-svc']],
  ['both', ['SVC', 'X-svc']],
]);

/** Runs `svc-webhook sign`. @returns the exit code */
export async function signCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...SECRET_OPTIONS,
      'webhook-id': { type: 'string', default: 'whk_test' },
      'event-type': { type: 'string' },
      timestamp: { type: 'string' },
      family: { type: 'string', default: 'both' },
      format: { type: 'string', default: 'lines' },
      url: { type: 'string', default: 'http://localhost:8788/' },
    },
  });
  if (positionals.length > 1)
    throw new UsageError('BODY-FILE: is given more than once. Pass one BODY-FILE, or none for standard input.');
  const families = FAMILIES.get(values.family);
  if (families === undefined) throw new UsageError('--family: must be SVC, X-svc or both. Leave it out for both.');
  const format = FORMATS.get(values.format);
  if (format === undefined)
    throw new UsageError(`--format: must be one of ${[...FORMATS.keys()].join(', ')}. Leave it out for lines.`);
  const timestamp = values.timestamp ?? String(Math.floor(terminal.now() / 1000));
  if (!/^[0-9]{1,15}$/.test(timestamp)) {
    throw new UsageError('--timestamp: must be a whole number of seconds. Leave it out for now.');
  }
  const [secret = '', ...more] = await givenSecrets(values, terminal);
  if (more.length > 0) throw new UsageError('--secret: is given more than once. Pass the one secret to sign with.');
  const file = positionals[0] ?? '-';
  const body = await readInput(file, terminal.stdin);
  const headers = signDelivery({
    body,
    secret,
    webhookId: values['webhook-id'],
    eventType: values['event-type'] ?? typeIn(body),
    timestamp: Number(timestamp),
    families,
  });
  terminal.stdout.write(`${format({ 'Content-Type': 'application/json', ...headers }, file, values.url)}\n`);
  return 0;
}

type Format = (headers: Readonly<Record<string, string>>, file: string, url: string) => string;

const FORMATS: ReadonlyMap<string, Format> = new Map<string, Format>([
  ['lines', (headers) => pairs(headers, ([name, value]) => `${name}: ${value}`).join('\n')],
  ['json', (headers) => JSON.stringify(headers, undefined, 2)],
  [
    'curl',
    (headers, file, url) =>
      [
        `curl -sS -w '%{http_code}\\n' ${quoted(url)} --data-binary ${quoted(`@${file}`)}`,
        ...pairs(headers, ([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`),
      ].join(' \\\n'),
  ],
]);

function pairs(
  headers: Readonly<Record<string, string>>,
  write: (pair: readonly [name: string, value: string]) => string,
): string[] {
  return Object.entries(headers).map(write);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function typeIn(body: Uint8Array): string {
  try {
    const type: unknown = JSON.parse(Buffer.from(body).toString('utf8')).event.type;
    if (typeof type === 'string' && type !== '') return type;
  } catch {
    // Reported below.
  }
  throw new UsageError(`body: has no event.type for ${HEADER_NAMES.SVC.eventType}. Pass --event-type TYPE.`);
}
