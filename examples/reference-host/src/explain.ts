import { existsSync, readFileSync } from 'node:fs';
import { type Lane, memoryRoleDirectory } from '@svc/auth';
import { memoryKeyStore } from '@svc/auth/api-key';
import { ExplainUsageError, explainCommand } from '@svc/auth/explain';
import { authentication } from './authentication.ts';
import { memoryRecords } from './caller-records.ts';
import type { Command } from './command-contract.ts';
import type { Config } from './config.ts';
import { configuredKeys } from './configured-keys.ts';
import { configuredResolver } from './configured-workloads.ts';
import { readConfig } from './read-config.ts';
import { secretKey } from './secret-key.ts';

/** Explains a captured request with the lanes of a configuration. It opens no database and creates no key. */
export const explain: Command = {
  usage: '--config FILE [CAPTURE]',
  summary: 'Tells why a captured request is refused, check by check.',
  run(args) {
    const { stdin, stdout, stderr } = process;
    return explainCommand(args, { stdin, stdout, stderr }, { name: 'svc-host explain', lanesOf });
  },
};

async function lanesOf(file: string, now: () => number): Promise<readonly Lane[]> {
  const read = await readConfig(file);
  if (!read.ok) throw new ExplainUsageError(read.problems.join('\n'));
  const { config } = read;
  const { host, port } = config.listen;
  const baseUrl = config.baseUrl?.replace(/\/$/, '') ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  try {
    const log = () => {};
    const records = memoryRecords(config, log);
    // Keys and bindings that are in the store alone are unknown here: the command opens no database.
    const keys = memoryKeyStore(configuredKeys(config));
    // Lanes judge no role.
    const directory = memoryRoleDirectory([]);
    const resolveWorkload = configuredResolver(config);
    const secret = presentSecret(config);
    const parts = { baseUrl, secret, keys, directory, resolveWorkload, records, now, log };
    return authentication(config, parts).lanes;
  } catch (error) {
    throw new ExplainUsageError(error instanceof Error ? error.message : 'The lanes could not be made.');
  }
}

/** The secret key of the host, if there is one. Nonces of another key would be refused. */
function presentSecret({ secretKey: configured, store }: Config): Uint8Array {
  const kept = store.startsWith('sqlite:') ? `${store.slice('sqlite:'.length)}-secret-key` : undefined;
  const text = kept !== undefined && existsSync(kept) ? readFileSync(kept, 'utf8').trim() : undefined;
  return secretKey({ secretKey: configured ?? text, store: 'memory:' });
}
