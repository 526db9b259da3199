import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fsyncSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/** The name of the database in a backup. */
export const DATABASE = 'svc.db';
/** The name of the manifest in a backup. It is written last: a backup without one is incomplete. */
const MANIFEST = 'manifest.json';

const count = z.int().min(0);
/** The keys that a backup may contain. */
const keyFile = z.enum(['secret-key', 'former-secret-keys', 'audit-key.pem', 'bundle-key.pem']);
/** A name of PostgreSQL that needs no quotes. */
const identifier = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);

const common = z.strictObject({
  format: z.literal('svc-host-backup/1'),
  createdAt: z.iso.datetime(),
  hostVersion: z.string(),
  schemaVersion: count,
  /** Ids of the keys that the stored secrets need. */
  secretKeyIds: z.array(z.string().regex(/^[0-9a-f]{16}$/)),
  /** Public key of the signer of audit checkpoints, in base64 (SPKI). Null: the private key was missing. */
  auditPublicKey: z.string().nullable(),
  audit: z.strictObject({
    /** The last entry. Null: there is none. */
    head: z.strictObject({ atSequence: count, hash: z.string() }).nullable(),
    /** The last checkpoint. Null: there is none. */
    checkpoint: z.strictObject({ checkpoint: z.string(), atSequence: count, merkleRoot: z.string() }).nullable(),
    /** `audit.checkpointFile` of the host. Null: it had none. */
    checkpointFile: z.string().nullable().default(null),
  }),
  pending: z.strictObject({ runs: count, deliveries: count, subscriptions: count }),
  /** The files of the backup beside the manifest, by name. */
  files: z.partialRecord(
    z.union([z.literal(DATABASE), keyFile, z.templateLiteral([identifier, '.copy'])]),
    z.strictObject({ bytes: count, sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  ),
});

const manifest = z.discriminatedUnion('store', [
  common.extend({ store: z.literal('sqlite') }),
  common.extend({
    store: z.literal('postgres'),
    /** The tables, each after those that its foreign keys name. */
    tables: z.array(z.strictObject({ name: identifier, columns: z.array(identifier), rows: count })),
    /** The next value of each sequence. */
    sequences: z.record(identifier, z.string().regex(/^\d{1,19}$/)),
  }),
]);

/** The name of a file with keys in a backup. */
export type KeyFile = z.infer<typeof keyFile>;

/** Returns the name of the file with the rows of a table. */
export function rowsFile(table: string): `${string}.copy` {
  return `${table}.copy`;
}

/** The description of a backup. */
export type Manifest = z.infer<typeof manifest>;

/** The size and digest of a file. */
export interface FileDigest {
  readonly bytes: number;
  /** SHA-256 in hexadecimal. */
  readonly sha256: string;
}

/** Writes the manifest of a backup, and flushes it, its folder and the parent of the folder to the disk. */
export function writeManifest(folder: string, content: Manifest): void {
  writeFileSync(join(folder, MANIFEST), `${JSON.stringify(content, null, 2)}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  });
  flush(folder);
  flush(dirname(folder));
}

/**
 * Reads the manifest of a backup, and compares every file with it.
 *
 * @throws {Error} when the manifest is missing or malformed, or a file differs from it
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, MANIFEST);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new Error(`${path}: cannot be read. The backup is incomplete, or the path is wrong. Use another backup.`);
  }
  const parsed = manifest.safeParse(jsonOf(text));
  if (!parsed.success) throw new Error(`${path}: is not a manifest that this version knows. Use a newer svc-host.`);
  const missing = databaseFiles(parsed.data).find((name) => !(name in parsed.data.files));
  if (missing !== undefined) throw new Error(`${path}: names no ${missing}. Use another backup.`);
  for (const [name, expected] of Object.entries(parsed.data.files)) {
    const file = join(folder, name);
    const found = await digestOf(file).catch(() => undefined);
    if (found === undefined) throw new Error(`${file}: cannot be read. The backup is incomplete. Use another backup.`);
    if (found.sha256 !== expected?.sha256 || found.bytes !== expected.bytes)
      throw new Error(`${file}: differs from the manifest. The backup is damaged. Use another backup.`);
  }
  return parsed.data;
}

function databaseFiles(content: Manifest): readonly string[] {
  return content.store === 'sqlite' ? [DATABASE] : content.tables.map(({ name }) => rowsFile(name));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the size and the digest of a file. */
export async function digestOf(file: string): Promise<FileDigest> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return { bytes: statSync(file).size, sha256: hash.digest('hex') };
}

/** Flushes a file or a folder to the disk. */
export function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
