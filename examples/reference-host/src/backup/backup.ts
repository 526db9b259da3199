import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { keyCoverageOf, VERSION } from '@svc/host-kit';
import type { Command } from '../command-contract.ts';
import type { Config } from '../config.ts';
import { complain } from '../terminal.ts';
import { commandLine } from './command-line.ts';
import { type DatabasePlace, databasePlace, inspect } from './database.ts';
import { examine, lineOf } from './examination.ts';
import { exportPostgres } from './export-postgres.ts';
import { exportSqlite } from './export-sqlite.ts';
import { keyTexts } from './key-texts.ts';
import { digestOf, type Manifest, writeManifest } from './manifest.ts';
import { presentKeys } from './present-keys.ts';

/** Copies the database of a host, which may run meanwhile, into a new folder. */
export const backup: Command = {
  usage: '--config FILE --out DIR [--with-key]',
  summary: 'Copies the database, of a running host too, into a new folder.',
  async run(args) {
    const given = await commandLine('backup', args, { names: ['out'], flags: ['with-key'] });
    if ('problems' in given) {
      given.problems.forEach(complain);
      return 2;
    }
    const folder = resolve(given.values.out ?? '');
    try {
      const manifest = await backUp(given.config, folder, given.flags.has('with-key'));
      process.stdout.write(`${folder}: has the backup of ${manifest.createdAt}. ${keysTold(manifest)}\n`);
      return 0;
    } catch (error) {
      complain(error instanceof Error ? error.message : 'The backup failed.');
      return 1;
    }
  },
};

function keysTold({ files, secretKeyIds }: Manifest): string {
  const ids = secretKeyIds.length === 0 ? 'no key' : `key ${secretKeyIds.join(', ')}`;
  const former = files['former-secret-keys'] === undefined ? '' : ' and former';
  const kept =
    files['secret-key'] !== undefined ? `The backup contains the current${former} keys: keep it secret.` : '';
  return `Its secrets need ${ids}. ${kept || 'The keys are not in it: keep them apart from it.'}`;
}

async function backUp(config: Config, folder: string, withKey: boolean): Promise<Manifest> {
  const place = databasePlace(config);
  // Before the folder is made: the database may not exist.
  await (await inspect(place)).close();
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      throw new Error(`${folder}: exists. Name a new folder: a backup replaces nothing.`);
    throw new Error(`${folder}: cannot be created. Check that its parent exists and can be written.`);
  }
  try {
    return await fill(config, place, folder, withKey);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function fill(config: Config, place: DatabasePlace, folder: string, withKey: boolean): Promise<Manifest> {
  // The time before the copy: everything that was acknowledged until then is in it.
  const createdAt = new Date().toISOString();
  const { inspection, names, database } =
    place.store === 'sqlite' ? exportSqlite(place.path, folder) : await exportPostgres(place.url, folder);
  try {
    const keys = await presentKeys(config);
    const { checkpointFile } = config.audit;
    // The export of PostgreSQL has read every row.
    const damage = place.store === 'sqlite' ? 'quick_check' : null;
    for (const finding of await examine({ inspection, keys, damage, checkpointFile })) {
      if (finding.ok) continue;
      if (finding.check === 'quick_check') throw new Error(`${place.name}: ${lineOf(finding)}`);
      complain(`The backup is made as the database is. ${lineOf(finding)}`);
    }
    const head = await inspection.audit.head();
    const last = (await inspection.audit.checkpoints(0, Number.MAX_SAFE_INTEGER)).at(-1);
    const keyNames = withKey ? writeKeys(config, folder) : [];
    const manifest: Manifest = {
      format: 'svc-host-backup/1',
      createdAt,
      hostVersion: VERSION,
      ...database,
      schemaVersion: inspection.schemaVersion,
      secretKeyIds: [...(await keyCoverageOf(inspection.sealedRecords(), keys.secretKeys)).keyIds],
      auditPublicKey: keys.auditPublicKey ?? null,
      audit: {
        head: head === undefined ? null : { atSequence: head.atSequence, hash: head.hash },
        checkpoint:
          last === undefined
            ? null
            : { checkpoint: last.checkpoint, atSequence: last.atSequence, merkleRoot: last.merkleRoot },
        checkpointFile,
      },
      pending: await inspection.pending(),
      files: {},
    };
    for (const name of [...names, ...keyNames]) manifest.files[name] = await digestOf(join(folder, name));
    writeManifest(folder, manifest);
    return manifest;
  } finally {
    await inspection.close();
  }
}

/** Writes the keys into a backup, and returns the names of their files. */
function writeKeys(config: Config, folder: string) {
  const texts = keyTexts(config);
  for (const { name, text } of texts) writeFileSync(join(folder, name), text, { mode: 0o600, flag: 'wx', flush: true });
  return texts.map(({ name }) => name);
}
