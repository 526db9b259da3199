import { join, resolve } from 'node:path';
import type { Command } from '../command-contract.ts';
import type { Config } from '../config.ts';
import { complain } from '../terminal.ts';
import { commandLine } from './command-line.ts';
import { databasePlace, type Inspection } from './database.ts';
import { examine, type Finding, lineOf } from './examination.ts';
import { importPostgres } from './import-postgres.ts';
import { importSqlite, requireEmptyPlace } from './import-sqlite.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { KEY_FILES, type PresentKeys, presentKeys } from './present-keys.ts';

/** Puts the database of a backup in its place. */
export const restore: Command = {
  usage: '--from DIR --config FILE [--hold-deliveries]',
  summary: 'Puts the database of a backup where the configuration names one, if none is there.',
  async run(args) {
    const given = await commandLine('restore', args, { names: ['from'], flags: ['hold-deliveries'] });
    if ('problems' in given) {
      given.problems.forEach(complain);
      return 2;
    }
    try {
      const lines = await restored(given.config, resolve(given.values.from ?? ''), given.flags.has('hold-deliveries'));
      for (const line of lines) process.stdout.write(`${line}\n`);
      return 0;
    } catch (error) {
      complain(error instanceof Error ? error.message : 'The restore failed.');
      return 1;
    }
  },
};

/** @returns what the restored host will do, one line each */
async function restored(config: Config, folder: string, holds: boolean): Promise<readonly string[]> {
  const place = databasePlace(config);
  if (place.store === 'sqlite') requireEmptyPlace(place.path);
  const manifest = await readManifest(folder);
  const judgement = new Judgement(config, folder, manifest);
  let held: number | undefined;
  if (place.store === 'sqlite' && manifest.store === 'sqlite')
    held = await importSqlite({ config, path: place.path, folder, manifest, holds, examine: judgement.examine });
  else if (place.store === 'postgres' && manifest.store === 'postgres')
    held = await importPostgres({ url: place.url, folder, manifest, holds, examine: judgement.examine });
  else
    throw new Error(
      `${folder}: is a backup of ${KINDS[manifest.store]}, and store names ${KINDS[place.store]}. Correct store.`,
    );
  return [...told(place.name, manifest, held), ...judgement.warnings];
}

const KINDS = { sqlite: 'an SQLite database', postgres: 'a PostgreSQL database' } as const;

/** Judges a database before it is put in its place. */
class Judgement {
  /** Sentences about the next start of the host. */
  readonly warnings: string[] = [];
  readonly #config: Config;
  readonly #folder: string;
  readonly #manifest: Manifest;

  constructor(config: Config, folder: string, manifest: Manifest) {
    this.#config = config;
    this.#folder = folder;
    this.#manifest = manifest;
  }

  /** @throws {Error} when a stored secret does not open, or the schema cannot be used */
  readonly examine = async (inspection: Inspection): Promise<void> => {
    const { audit } = this.#config;
    const damage = this.#manifest.store === 'sqlite' ? 'quick_check' : null;
    const keys = await this.#keys();
    for (const finding of await examine({ inspection, keys, damage, checkpointFile: audit.checkpointFile })) {
      if (!finding.ok) this.#judge(finding);
    }
    const { auditPublicKey } = this.#manifest;
    if (auditPublicKey === null || keys.auditPublicKeys.includes(auditPublicKey)) return;
    complain(
      `The key that signed the audit log is missing. Put it back, or set audit.signingKeyFile to a new one and add ${auditPublicKey} to audit.formerPublicKeys.`,
    );
  };

  #judge(finding: Finding): void {
    if (finding.check === 'checkpoint-file') this.warnings.push(this.#stopped(finding.text));
    else if (finding.check === 'audit') complain(`The database is restored as it is in the backup. ${lineOf(finding)}`);
    else if (finding.check === 'keys') throw new Error(`${lineOf(finding)}${this.#keysInBackup()}`);
    else throw new Error(lineOf(finding));
  }

  #keys(): Promise<PresentKeys> {
    const inBackup = Object.keys(KEY_FILES).flatMap((name) =>
      name in this.#manifest.files ? [[name, join(this.#folder, name)]] : [],
    );
    return presentKeys(this.#config, Object.fromEntries(inBackup));
  }

  #keysInBackup(): string {
    const { files } = this.#manifest;
    const names = (['secret-key', 'former-secret-keys'] as const).filter((name) => name in files);
    if (names.length === 0) return '';
    const paths = names.map((name) => join(this.#folder, name)).join(' and ');
    return ` The backup has keys, one a line, in ${paths}: add them to formerSecretKeys.`;
  }

  /** A checkpoint after the backup is a proof that the restored log lacks entries, so the host does not start. */
  #stopped(text: string): string {
    const path = this.#config.audit.checkpointFile;
    return `The host will not start (exit code 2): ${text.replace(/\.[^.]*\.$/, '.')} Move ${path} away, keep it as evidence of the gap, and start the host: it begins a new file.`;
  }
}

function told(name: string, { createdAt, pending }: Manifest, held: number | undefined): readonly string[] {
  const { deliveries, subscriptions, runs } = pending;
  const sends = `${deliveries} deliveries of ${subscriptions} subscriptions wait; those that were delivered after the backup are sent again`;
  return [
    `${name}: is restored as it was at ${createdAt}. Everything after that time is lost.`,
    held === undefined
      ? `${sends} at the start of the host. Pass --hold-deliveries to hold them.`
      : `${sends} when you release them: ${held} subscriptions are paused. Run svc-host release-deliveries.`,
    `${runs} runs have not ended; they continue at the start of the host, and their steps after the backup are made again.`,
  ];
}
