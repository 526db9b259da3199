import { createPrivateKey, X509Certificate } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { accessSync, closeSync, constants, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { assertionKey } from './assertion-key.ts';
import type { Config } from './config.ts';
import { pathOf } from './config-problems.ts';

/**
 * Checks what a configuration names outside of its file: other files, the folder of the database, and the address of
 * `listen.host`. It opens no database and changes nothing.
 *
 * @returns one line a problem, as those of `parseConfig`
 */
export async function surroundingProblems(config: Config): Promise<readonly string[]> {
  const files = namedFiles(config).flatMap(({ path, file, judge }) => {
    const problem = problemOfFile(file, judge);
    return problem === undefined ? [] : [`${pathOf(path)}: ${problem}`];
  });
  const store = problemOfStore(config.store);
  const host = await problemOfHost(config.listen.host);
  return [
    ...(host === undefined ? [] : [`listen.host: ${host}`]),
    ...(store === undefined ? [] : [`store: ${store}`]),
    ...problemsOfCheckpointFile(config.audit),
    ...files,
  ];
}

type Judge = (text: string) => string | undefined;

interface NamedFile {
  readonly path: readonly (string | number)[];
  readonly file: string;
  readonly judge: Judge;
}

function namedFiles({ egress, audit, oidc, oauth2, introspection, workloadIdentity }: Config): readonly NamedFile[] {
  const found: NamedFile[] = [];
  const add = (path: NamedFile['path'], file: string | null | undefined, judge: Judge) => {
    if (file != null) found.push({ path, file, judge });
  };
  add(['egress', 'caFile'], egress.caFile, certificates);
  add(['audit', 'signingKeyFile'], audit.signingKeyFile, signingKey);
  for (const [lane, given] of Object.entries({ oidc, oauth2 })) {
    for (const [index, { jwksFile }] of (given?.issuers ?? []).entries())
      add([lane, 'issuers', index, 'jwksFile'], jwksFile, keySet);
  }
  add(['introspection', 'clientSecretFile'], introspection?.clientSecretFile, secretText);
  add(['introspection', 'privateKeyFile'], introspection?.privateKeyFile, clientKey);
  const workloads = 'workloadIdentity';
  for (const [index, { jwksFile, authoritiesFile }] of (workloadIdentity?.trustDomains ?? []).entries()) {
    add([workloads, 'trustDomains', index, 'jwksFile'], jwksFile, keySet);
    add([workloads, 'trustDomains', index, 'authoritiesFile'], authoritiesFile, certificates);
  }
  add([workloads, 'mtlsSan', 'authoritiesFile'], workloadIdentity?.mtlsSan?.authoritiesFile, certificates);
  for (const [index, { jwksFile }] of (workloadIdentity?.issuers ?? []).entries())
    add([workloads, 'issuers', index, 'jwksFile'], jwksFile, keySet);
  for (const [index, { jwksFile }] of (workloadIdentity?.delegation?.issuers ?? []).entries())
    add([workloads, 'delegation', 'issuers', index, 'jwksFile'], jwksFile, keySet);
  return found;
}

function problemOfFile(file: string, judge: Judge): string | undefined {
  const kind = kindOf(file);
  if (kind === 'missing') return `${file} is not there. Check the path: it is relative to the working directory.`;
  if (kind === 'folder') return `${file} is a folder. Give the path of a file.`;
  try {
    return judge(readFileSync(file, 'utf8'));
  } catch {
    return `${file} cannot be read. Check its permissions.`;
  }
}

/** A path below a file, or in a folder that may not be entered, counts as missing. */
function kindOf(path: string): 'file' | 'folder' | 'missing' {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file';
  } catch {
    return 'missing';
  }
}

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

function certificates(text: string): string | undefined {
  const blocks = text.match(PEM_BLOCK) ?? [];
  if (blocks.length === 0) return 'the file has no certificate. Give one with certificates in PEM.';
  const bad = blocks.findIndex((block) => !parses(() => new X509Certificate(block)));
  return bad === -1 ? undefined : `certificate ${bad + 1} of the file is malformed. Copy it again.`;
}

function signingKey(text: string): string | undefined {
  const wanted = 'Generate one with `openssl genpkey -algorithm ed25519`.';
  if (!parses(() => createPrivateKey(text))) return `the file has no private key in PEM. ${wanted}`;
  return createPrivateKey(text).asymmetricKeyType === 'ed25519' ? undefined : `the key is not Ed25519. ${wanted}`;
}

function secretText(text: string): string | undefined {
  return text.trim() === '' ? 'the file is empty. Write the secret that the issuer gave you into it.' : undefined;
}

function clientKey(text: string): string | undefined {
  const wanted = 'Generate one with `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256`.';
  if (!parses(() => createPrivateKey(text))) return `the file has no private key in PEM. ${wanted}`;
  return parses(() => assertionKey(text)) ? undefined : `the key is not P-256, Ed25519 or RSA. ${wanted}`;
}

function keySet(text: string): string | undefined {
  const wanted = 'Give a JSON Web Key Set, {"keys": […]}.';
  if (!parses(() => JSON.parse(text))) return `the file is not JSON. ${wanted}`;
  const { keys } = Object(JSON.parse(text));
  return Array.isArray(keys) && keys.length > 0 ? undefined : `the file has no keys. ${wanted}`;
}

function parses(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

function problemOfStore(store: string): string | undefined {
  if (store === 'memory:') return undefined;
  if (!store.startsWith('sqlite:'))
    return URL.canParse(store)
      ? undefined
      : 'is not a URL. Encode special characters of the password, such as %40 for @.';
  const path = store.slice('sqlite:'.length);
  const folder = dirname(path);
  if (kindOf(path) === 'folder') return `${path} is a folder. Give the path of the database file.`;
  if (kindOf(folder) !== 'folder') return `${folder} is not a folder. Create it, or correct the path.`;
  // SQLite writes its log beside the database.
  const places = kindOf(path) === 'file' ? [folder, path] : [folder];
  const locked = places.find((place) => !parses(() => accessSync(place, constants.R_OK | constants.W_OK)));
  if (locked !== undefined) return `${locked} cannot be written. Check its permissions.`;
  return kindOf(path) === 'file' && !isDatabase(path)
    ? `${path} is not an SQLite database. Correct the path, or move the file away.`
    : undefined;
}

/** The host makes the file with its first checkpoint, and makes no checkpoint while it cannot. */
function problemsOfCheckpointFile({ checkpointFile: path }: Config['audit']): readonly string[] {
  if (path === null) return [];
  const [key, folder, kind] = ['audit.checkpointFile', dirname(path), kindOf(path)];
  if (kind === 'folder') return [`${key}: ${path} is a folder. Give the path of a file.`];
  if (kindOf(folder) !== 'folder') return [`${key}: ${folder} is not a folder. Create it, or correct the path.`];
  const place = kind === 'file' ? path : folder;
  return parses(() => accessSync(place, constants.R_OK | constants.W_OK))
    ? []
    : [`${key}: ${place} cannot be written. Check its permissions.`];
}

/** An empty file is a new database. */
function isDatabase(path: string): boolean {
  const head = Buffer.alloc(SQLITE_MAGIC.length);
  const file = openSync(path, 'r');
  const size = readSync(file, head);
  closeSync(file);
  return size === 0 || head.equals(SQLITE_MAGIC);
}

/** The first bytes of every database file. @see SQLite, Database File Format, section 1.3 */
const SQLITE_MAGIC = Buffer.from('SQLite format 3\0');

async function problemOfHost(host: string): Promise<string | undefined> {
  const late = new Promise<never>((_, reject) => setTimeout(reject, LOOKUP_WITHIN_MS).unref());
  try {
    await Promise.race([lookup(host), late]);
  } catch {
    return 'does not resolve. Give an address of this machine, such as 127.0.0.1 or 0.0.0.0.';
  }
  return (await canListen(host)) ? undefined : 'is no address of this machine. Give one, such as 127.0.0.1 or 0.0.0.0.';
}

/** Listens on any free port for a moment. */
function canListen(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'EADDRNOTAVAIL' && code !== 'EINVAL'));
    probe.listen(0, host, () => probe.close(() => resolve(true)));
  });
}

const LOOKUP_WITHIN_MS = 5000;
