import { parseArgs } from 'node:util';
import { byteLines } from './byte-lines.ts';
import { callersOfHost } from './callers-of-host.ts';
import { HOST_HELP, HOST_OPTIONS, hostReader } from './host-reader.ts';
import { type Terminal, UsageError } from './terminal.ts';

export const CALLERS_HELP: string = `Usage: svc-versioning callers LOG… [--since TIME]
       svc-versioning callers --url URL --key-file FILE [--since DAY]

Reads logs of hosts (JSON Lines, one record of the event "request" for each request of a known caller) and prints the
credentials that still send requests of major 1: the number of their requests under each major, the last one of major 1, and
the operations. Retire major 1 when none is left. With --url it reads the counts of a
running host instead: those of the tenant and the mode of the key.

Options:
  --since TIME     leaves out requests before this RFC 3339 time, such as 2026-01-01T00:00:00Z. A host counts whole days
                   in UTC: pass 2026-01-01
  --json           prints the callers as JSON
${HOST_HELP}
Exit code: 0 no caller uses major 1, 1 a caller does, 2 wrong usage, a host that does not answer, or no requests at all.
`;

/** The requests of one credential. */
interface Caller {
  readonly tenant: string;
  readonly keyId: string;
  readonly requests: { 1: number; 2: number };
  /** Time of the last request of major 1; empty when the log tells no times. */
  last: string;
  readonly operations: Set<string>;
}

/** Runs `svc-versioning callers` and returns the exit code. */
export async function callersCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const { stdout, stderr } = terminal;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...HOST_OPTIONS, json: { type: 'boolean', default: false }, since: { type: 'string' } },
  });
  if (values.url !== undefined) {
    if (positionals.length > 0) throw new UsageError('LOG: is given beside --url. Pass logs, or a host.');
    const since = dayOf(values.since);
    return callersOfHost({ read: await hostReader(values, terminal), since, json: values.json }, terminal);
  }
  if (positionals.length === 0)
    throw new UsageError('LOG: at least one file is required. Pass the path of a log in JSON Lines.');
  const since = sinceOf(values.since);
  const callers = new Map<string, Caller>();
  let skipped = 0;
  for (const path of positionals) {
    for await (const line of linesOf(path)) {
      const record = recordIn(line);
      if (record === undefined) skipped += 1;
      else if (record !== 'other' && !(Date.parse(record.time) < since)) count(callers, record);
    }
  }
  if (skipped > 0) stderr.write(`svc-versioning callers: ${skipped} lines are no JSON objects, and were left out.\n`);
  if (callers.size === 0)
    throw new UsageError('LOG: has no requests of known callers. Pass the log of a host, with the event "request".');
  const old = [...callers.values()]
    .filter(({ requests }) => requests[1] > 0)
    .sort((one, other) => other.requests[1] - one.requests[1] || (one.keyId < other.keyId ? -1 : 1));
  if (values.json) stdout.write(`${JSON.stringify(old.map(plain), undefined, 2)}\n`);
  else stdout.write(`${[...old.map(lineOf), `${old.length} of ${callers.size} callers use major 1.`].join('\n')}\n`);
  return old.length === 0 ? 0 : 1;
}

/** A longer line is no record of a request. */
const LONGEST_LINE = 1_048_576;
/** A host has fewer credentials. A log with more was not written by one. */
const MOST_CALLERS = 200_000;
const MOST_OPERATIONS = 100;

/** @throws {UsageError} for a time within a day, of which a host has no count of its own */
function dayOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const day = /^(\d{4}-\d\d-\d\d)(?:T00:00(?::00(?:\.0+)?)?Z)?$/.exec(text)?.[1];
  if (day === undefined || Number.isNaN(Date.parse(day)))
    throw new UsageError('--since: must be a day such as 2026-01-01, because a host counts whole days.');
  return day;
}

function sinceOf(text: string | undefined): number {
  if (text === undefined) return Number.NEGATIVE_INFINITY;
  const time = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new UsageError('--since: must be a time such as 2026-01-01T00:00:00Z.');
  return time;
}

async function* linesOf(path: string): AsyncGenerator<string> {
  try {
    for await (const line of byteLines(path, LONGEST_LINE)) {
      const text = line.toString('utf8').trim();
      if (text !== '') yield text;
      if (line.length > LONGEST_LINE)
        throw new UsageError(`LOG: ${path} has a line of more than 1 MiB. Pass a log in JSON Lines.`);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `LOG: ${path} cannot be read (${error instanceof Error ? error.message : error}). Correct the path.`,
    );
  }
}

/** The members of a record that are read. */
interface RequestLine {
  readonly time: string;
  readonly keyId: string;
  readonly tenant: string;
  readonly operation: string;
  readonly major: 1 | 2;
}

/** Returns undefined for a line that is no JSON object, and `other` for a record of something else. */
function recordIn(line: string): RequestLine | 'other' | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { event, time, keyId, tenant, operation, path, major } = value as Readonly<Record<string, unknown>>;
  if (event !== 'request' || typeof keyId !== 'string' || (major !== 1 && major !== 2)) return 'other';
  // A path under /host/<org> belongs to no major. Its twin under /v1 ends with major 1.
  if (operation === 'host' && typeof path === 'string' && !path.startsWith('/v1/')) return 'other';
  const text = (one: unknown) => (typeof one === 'string' ? one : '');
  return { time: text(time), keyId, tenant: text(tenant), operation: text(operation), major };
}

function count(callers: Map<string, Caller>, { time, keyId, tenant, operation, major }: RequestLine): void {
  const name = JSON.stringify([tenant, keyId]);
  let caller = callers.get(name);
  if (caller === undefined) {
    if (callers.size >= MOST_CALLERS)
      throw new UsageError(`LOG: names more than ${MOST_CALLERS} credentials. Pass the log of one host at a time.`);
    caller = { tenant, keyId, requests: { 1: 0, 2: 0 }, last: '', operations: new Set() };
    callers.set(name, caller);
  }
  caller.requests[major] += 1;
  if (major === 2) return;
  // Logs of several hosts are not in one order.
  if (caller.last === '' || Date.parse(time) > Date.parse(caller.last)) caller.last = time;
  if (caller.operations.size < MOST_OPERATIONS) caller.operations.add(operation);
}

function plain({ tenant, keyId, requests, last, operations }: Caller): object {
  return { tenant, keyId, requests, lastOfMajor1: last, operations: [...operations].sort() };
}

function lineOf({ tenant, keyId, requests, last, operations }: Caller): string {
  const when = last === '' ? '' : `, last ${last}`;
  const share = `${requests[1]} of ${requests[1] + requests[2]} requests`;
  // A log may contain commands for the terminal.
  return `${tenant} ${keyId}  ${share}${when}: ${[...operations].sort().join(', ')}`.replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    '\u{FFFD}',
  );
}
