import { readFile, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { MOST_BUNDLE_BYTES, type SigningKey } from '../debug-bundle/format.ts';
import { verifyDebugBundle } from '../debug-bundle/verify.ts';
import { VERSION } from '../version.ts';

/** The streams that the command writes to, and its network access. */
export interface Terminal {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly fetch: (request: Request) => Promise<Response>;
}

const HELP = `Usage: svc-debug-bundle verify FILE (--host URL | --keys FILE)

Verifies the signature of a debug bundle, and prints a summary of it as JSON.

  --host URL    the host whose keys are trusted: reads signingKeys of its discovery document
  --keys FILE   a discovery document that was stored before, or its list signingKeys

Exit codes: 0 the bundle is as its host signed it, 1 it is not, 2 wrong usage or no keys.
svc-debug-bundle --version prints the version.
`;

/** Wrong usage: the message is printed, and the exit code is 2. */
class UsageError extends Error {}

/** Runs `svc-debug-bundle` with its arguments and returns the exit code. */
export async function svcDebugBundle(args: readonly string[], terminal: Terminal): Promise<number> {
  const { stdout, stderr } = terminal;
  if (args[0] === '--version') {
    stdout.write(`svc-debug-bundle ${VERSION}\n`);
    return 0;
  }
  if (args.length === 0 || args.some((each) => each === '--help' || each === '-h')) {
    (args.length === 0 ? stderr : stdout).write(HELP);
    return args.length === 0 ? 2 : 0;
  }
  try {
    return await verify(args, terminal);
  } catch (error) {
    // parseArgs throws a TypeError for an unknown option.
    if (!(error instanceof UsageError || error instanceof TypeError)) throw error;
    stderr.write(`svc-debug-bundle: ${error.message}\nsvc-debug-bundle --help describes the arguments.\n`);
    return 2;
  }
}

async function verify(args: readonly string[], { stdout, stderr, fetch }: Terminal): Promise<number> {
  const options = { host: { type: 'string' }, keys: { type: 'string' } } as const;
  const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [action, file, ...others] = positionals;
  if (action !== 'verify' || file === undefined || others.length > 0)
    throw new UsageError('the command is not known. Use verify FILE.');
  const keys = await keysOf(values, fetch);
  const verdict = await verifyDebugBundle(await bytesOf(file), keys);
  if (!verdict.ok) {
    stderr.write(`${verdict.fault}: ${verdict.problem}\n`);
    return 1;
  }
  const { bundleId, createdAt, host, run, log, omitted, redactions, signature } = verdict.bundle;
  const events = Array.isArray(log.events) ? log.events.length : 0;
  const summary = { bundleId, createdAt, host, runId: run.runId, status: run.status, events, omitted, redactions };
  stdout.write(`${JSON.stringify({ verified: true, ...summary, keyId: signature.keyId })}\n`);
  return 0;
}

async function keysOf(
  { host, keys }: { readonly host?: string | undefined; readonly keys?: string | undefined },
  fetch: Terminal['fetch'],
): Promise<readonly SigningKey[]> {
  if ((host === undefined) === (keys === undefined)) throw new UsageError('no keys are named. Pass --host or --keys.');
  const text = host === undefined ? (await bytesOf(keys ?? '')).toString('utf8') : await discovered(host, fetch);
  const found = signingKeysIn(text);
  if (found === undefined) throw new UsageError(`${host ?? keys}: has no signingKeys. Name another source of keys.`);
  return found;
}

async function discovered(host: string, fetch: Terminal['fetch']): Promise<string> {
  if (!URL.canParse(host)) throw new UsageError('--host: is not a URL. Pass one such as https://svc.example.com.');
  const request = new Request(new URL('/.well-known/svc', host), { signal: AbortSignal.timeout(DISCOVERY_MS) });
  const response = await fetch(request).catch(() => undefined);
  if (response?.ok !== true) throw new UsageError(`${host}: did not answer with a discovery document. Check the URL.`);
  return response.text();
}

const DISCOVERY_MS = 10_000;

function signingKeysIn(text: string): readonly SigningKey[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    const list: unknown = Array.isArray(parsed) ? parsed : Reflect.get(Object(parsed), 'signingKeys');
    return Array.isArray(list) ? list.filter(isSigningKey) : undefined;
  } catch {
    return undefined;
  }
}

function isSigningKey(value: unknown): value is SigningKey {
  const { keyId, alg, publicKey, retiredAt } = Object(value);
  const isText = typeof keyId === 'string' && typeof publicKey === 'string';
  return isText && alg === 'ed25519' && (retiredAt === undefined || typeof retiredAt === 'string');
}

async function bytesOf(file: string): Promise<Buffer> {
  try {
    // A larger file is not read into memory. One byte more than the limit is enough to be refused.
    const { size } = await stat(file);
    return size > MOST_BUNDLE_BYTES ? Buffer.alloc(MOST_BUNDLE_BYTES + 1) : await readFile(file);
  } catch {
    throw new UsageError(`${file}: cannot be read. Check the path and its permissions.`);
  }
}
