import { readFile, stat } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { HOST_SCOPES } from '../host-scopes.ts';
import type { JsonObject } from '../json.ts';
import { nearestName } from '../known-options.ts';
import { scopeFault } from '../scope-fault.ts';
import { VERSION } from '../version.ts';
import { keysOfHost } from './keys-of-host.ts';
import { keysOfStore } from './keys-of-store.ts';
import { plain, reservedFile, shownKey, shownRecord } from './shown.ts';
import {
  type KeyAnswer,
  type KeyTarget,
  type NewKeyFields,
  Refused,
  type Terminal,
  Unreachable,
  UsageError,
} from './terminal.ts';

const HELP = `Usage: svc-keys create --name NAME --scopes SCOPE,… [options]
       svc-keys list [--state active|expired|revoked] [--principal ID]
       svc-keys rotate ID [--grace SECONDS] [--expires TIME] [--out FILE]
       svc-keys revoke ID
       svc-keys import FILE

Makes, lists and ends the API keys of a host.

A running host:
  --url URL          its origin, or SVC_KEYS_URL
  --org NAME         the segment of /host/<org>/. Default: example
  --key-file FILE    holds a key with the scope keys:manage. Or set SVC_KEYS_KEY

A store, for a host that is down, and for import (PostgreSQL: also beside running hosts):
  --store STORE      sqlite:PATH or postgres://…, or SVC_KEYS_STORE, which keeps a password out of the process list
  --tenant ID        the tenant of the keys
  --mode live|test   Default: live

create:
  --workspaces W,…   or '*' for all. Default: those of the caller; on a store: all
  --principal ID     the principal for whom the key acts. Default: the caller. Required on a store
  --expires TIME     such as 2027-01-01T00:00:00Z. Default: that of the caller
  --rate-limit N/S   the most requests in S seconds
  --quota N/PERIOD   the most requests in a day or a month, in UTC, on all hosts together
  --allow BLOCK      a block of client addresses; may be repeated
  --out FILE         writes the key into a new file with mode 0600, and its id to stdout. Default: the key goes to
                     stdout, and nothing else

  --json             prints JSON

import reads a JSON list of records with id, hash (SHA-256 in hexadecimal), principal and scopes, never keys.

Exit codes: 0 done, 1 refused, 2 wrong usage, 3 the host or the store cannot be reached.
svc-keys --version prints the version.
`;

const OPTIONS = {
  url: { type: 'string' },
  org: { type: 'string', default: 'example' },
  'key-file': { type: 'string' },
  store: { type: 'string' },
  tenant: { type: 'string' },
  mode: { type: 'string', default: 'live' },
  name: { type: 'string' },
  scopes: { type: 'string' },
  workspaces: { type: 'string' },
  principal: { type: 'string' },
  expires: { type: 'string' },
  'rate-limit': { type: 'string' },
  quota: { type: 'string' },
  allow: { type: 'string', multiple: true },
  state: { type: 'string' },
  grace: { type: 'string', default: '86400' },
  out: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof parsed>['values'];

function parsed(args: readonly string[]) {
  return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
}

/** Runs `svc-keys` with its arguments and returns the exit code. */
export async function svcKeys(args: readonly string[], terminal: Terminal): Promise<number> {
  const { stdout, stderr } = terminal;
  if (args[0] === '--version') {
    stdout.write(`svc-keys ${VERSION}\n`);
    return 0;
  }
  if (args.length === 0 || args.some((each) => each === '--help' || each === '-h')) {
    (args.length === 0 ? stderr : stdout).write(HELP);
    return args.length === 0 ? 2 : 0;
  }
  try {
    await perform(args, terminal);
    return 0;
  } catch (error) {
    const code = error instanceof Refused ? 1 : error instanceof Unreachable ? 3 : 2;
    // parseArgs throws a TypeError for an unknown option.
    if (!(error instanceof UsageError || error instanceof TypeError) && code === 2) throw error;
    stderr.write(`svc-keys: ${plain(error instanceof Error ? error.message : '')}\n`);
    if (code === 2) stderr.write('svc-keys --help describes the arguments.\n');
    return code;
  }
}

async function perform(args: readonly string[], terminal: Terminal): Promise<void> {
  const { positionals, values } = parsed(args);
  const [action = '', subject, ...others] = positionals;
  const takesSubject = ['rotate', 'revoke', 'import'].includes(action);
  if (!takesSubject && !['create', 'list'].includes(action)) {
    throw new UsageError('the command is not known. Use create, list, rotate, revoke or import.');
  }
  if (others.length > 0 || (subject !== undefined) !== takesSubject) {
    throw new UsageError(`${action}: takes ${takesSubject ? 'one argument' : 'no argument'} beside its options.`);
  }
  const work = WORK[action]?.(values, subject ?? '');
  const target = await targetOf(values, terminal, action === 'create' || action === 'import');
  try {
    await work?.(target, terminal);
  } finally {
    await target.close();
  }
}

type Work = (target: KeyTarget, terminal: Terminal) => Promise<void>;

/** Each judges its arguments before the target is opened. */
const WORK: Readonly<Record<string, (values: Values, subject: string) => Work>> = {
  create(values) {
    const fields = fieldsOf(values);
    return (target, terminal) =>
      showOnce(values, terminal, async () => {
        const made = await target.create(fields);
        if (fields.workspaces === undefined && reachesAll(made)) terminal.stderr.write(REACHES_ALL);
        for (const fault of misspelt(fields.scopes)) terminal.stderr.write(`svc-keys: ${fault} ${KEPT}\n`);
        return made;
      });
  },
  rotate(values, id) {
    const graceSeconds = /^\d{1,9}$/.test(values.grace) ? Number(values.grace) : undefined;
    if (graceSeconds === undefined) throw new UsageError('--grace: must be a whole number of seconds.');
    const { expires } = values;
    const fields = { graceSeconds, ...(expires !== undefined && { expiresAt: timeOf(expires) }) };
    return (target, terminal) => showOnce(values, terminal, () => target.rotate(id, fields));
  },
  revoke: (values, id) => async (target, terminal) => shownRecord(terminal, values, await target.revoke(id)),
  list: (values) => async (target, terminal) => {
    const { state, principal } = values;
    if (state !== undefined && !['active', 'expired', 'revoked'].includes(state)) {
      throw new UsageError('--state: must be active, expired or revoked.');
    }
    for await (const key of target.list({ state, principal })) shownRecord(terminal, values, key);
  },
  import:
    (values, file) =>
    async (target, { stdout }) => {
      const added = await target.import(await recordsIn(file));
      stdout.write(values.json ? `${JSON.stringify({ imported: added })}\n` : `${added} keys imported\n`);
    },
};

function reachesAll({ apiKey }: KeyAnswer): boolean {
  const { workspaces }: JsonObject = Object(apiKey);
  return Array.isArray(workspaces) && workspaces.includes('*');
}

/** Told when no workspace was named: the default of a store, and of a caller of all workspaces, is the widest reach. */
const REACHES_ALL =
  "svc-keys: the key reaches all workspaces of its tenant. Pass --workspaces W,… for less, or --workspaces '*' to say so.\n";

/** The scopes that are one or two characters from one of a host. Any other may be one of the operator's own application. */
function misspelt(scopes: readonly string[]): readonly string[] {
  return scopes.flatMap((scope) => {
    const fault = scopeFault(scope, HOST_SCOPES);
    return fault !== undefined && nearestName(scope, [fault.nearest]) !== undefined ? [fault.message] : [];
  });
}

const KEPT = 'The key has it as you wrote it.';

/** Makes the file before the key: a key that cannot be handed over must not be made. */
async function showOnce(values: Values, terminal: Terminal, make: () => Promise<KeyAnswer>): Promise<void> {
  const file = values.out === undefined ? undefined : reservedFile(values.out);
  try {
    shownKey(terminal, { json: values.json, file }, await make());
  } catch (error) {
    file?.discard();
    throw error;
  }
}

async function targetOf(values: Values, terminal: Terminal, isMade: boolean): Promise<KeyTarget> {
  const { environment } = terminal;
  const url = values.url ?? (values.store === undefined ? environment.SVC_KEYS_URL : undefined);
  const store = values.store ?? (values.url === undefined ? environment.SVC_KEYS_STORE : undefined);
  if ((url === undefined) === (store === undefined)) {
    throw new UsageError('no keys are named, or two kinds. Pass --url for a running host, or --store.');
  }
  if (url !== undefined) {
    const key = await managingKey(values['key-file'], environment.SVC_KEYS_KEY);
    return keysOfHost({ url, org: values.org, key, fetch: terminal.fetch });
  }
  const { tenant, mode } = values;
  if (mode !== 'live' && mode !== 'test') throw new UsageError('--mode: must be live or test.');
  if (tenant === undefined) throw new UsageError('--tenant: is missing. Name the tenant of the keys.');
  const warn = (message: string) => void terminal.stderr.write(`svc-keys: ${message}\n`);
  return keysOfStore(store ?? '', { tenant, mode, isMade, warn });
}

async function managingKey(file: string | undefined, given: string | undefined): Promise<string> {
  const text = file === undefined ? given : (await contentOf(file)).trim();
  if (text === undefined || text === '') {
    throw new UsageError('no key is given. Pass --key-file FILE, or set SVC_KEYS_KEY. It needs the scope keys:manage.');
  }
  // A header takes no line break, and an error about one would show the key.
  if (!/^[\x21-\x7e]{1,512}$/.test(text))
    throw new UsageError('the key has characters that no key has. Check the file.');
  return text;
}

function fieldsOf(values: Values): NewKeyFields {
  const { name, scopes, workspaces, principal, expires, allow } = values;
  if (name === undefined || scopes === undefined) throw new UsageError('create: --name and --scopes are required.');
  const [, limit, windowSeconds] = /^(\d{1,9})\/(\d{1,5})$/.exec(values['rate-limit'] ?? '') ?? [];
  if (values['rate-limit'] !== undefined && limit === undefined) {
    throw new UsageError('--rate-limit: must be requests and seconds, such as 600/60.');
  }
  const [, most, period] = /^(\d{1,12})\/(day|month)$/.exec(values.quota ?? '') ?? [];
  if (values.quota !== undefined && most === undefined) {
    throw new UsageError('--quota: must be requests and a period, such as 1000/day or 20000/month.');
  }
  return {
    name,
    scopes: listOf(scopes),
    ...(workspaces !== undefined && { workspaces: listOf(workspaces) }),
    ...(principal !== undefined && { principal }),
    ...(expires !== undefined && { expiresAt: timeOf(expires) }),
    ...(limit !== undefined && { rateLimit: { limit: Number(limit), windowSeconds: Number(windowSeconds) } }),
    ...(most !== undefined && { quota: { limit: Number(most), period: period === 'day' ? 'day' : 'month' } }),
    ...(allow !== undefined && { allowedAddresses: allow }),
  };
}

function listOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((each) => each !== '');
}

function timeOf(text: string): string {
  const time = /^\d{4}-\d\d-\d\dT.+(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new UsageError('--expires: must be a time such as 2027-01-01T00:00:00Z.');
  return new Date(time).toISOString();
}

async function recordsIn(file: string): Promise<readonly unknown[]> {
  const text = await contentOf(file);
  try {
    const read: unknown = JSON.parse(text);
    if (Array.isArray(read)) return read;
  } catch {
    // The parser's message would show the beginning of the file.
  }
  throw new UsageError(`${file}: must be a JSON list of records.`);
}

async function contentOf(file: string): Promise<string> {
  const size = await stat(file).then(
    (found) => found.size,
    () => undefined,
  );
  if (size === undefined) throw new UsageError(`${file}: cannot be read. Check the path and its permissions.`);
  if (size > MOST_BYTES) throw new UsageError(`${file}: is too large. Split it into files of at most 64 MiB.`);
  return readFile(file, 'utf8');
}

const MOST_BYTES = 67_108_864;
