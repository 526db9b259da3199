import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { chdir, cwd, env, execPath } from 'node:process';
import { createInterface } from 'node:readline';
import { installBeside } from '../../../tools/bootstrap/install.mjs';
import { startPostgres } from '../../../tools/postgres.ts';
import { CHECKOUT, EXAMPLE, imageEnvironment, imageInstructions } from './deploy-files.mjs';

/** A key of the caller, whose hash stands in the configuration. */
export const KEY = 'operator_brought_key_of_enough_characters';

/** The folders of this checkout that hold what the earlier stages of the Dockerfile make. */
const STAGES = { build: ['/build', '.'], telemetry: ['/telemetry', 'deploy/telemetry'] };

/** Copies the files of the image into a folder, as the COPY instructions of the last stage say. */
export async function layOutImage(root) {
  const before = cwd();
  chdir(CHECKOUT);
  await installBeside('deploy/telemetry').finally(() => chdir(before));
  for (const { keyword, flags, words } of imageInstructions()) {
    if (keyword !== 'COPY') continue;
    const stage = flags.find((flag) => flag.startsWith('--from='))?.slice('--from='.length);
    const [inside, here] = stage === undefined ? ['', '.'] : STAGES[stage];
    const target = join(root, words.at(-1));
    for (const source of words.slice(0, -1)) {
      const from = join(CHECKOUT, here, source.slice(inside.length));
      if (!existsSync(from)) throw new Error(`Dockerfile: COPY ${source}: does not exist. Correct its path.`);
      const to = words.at(-1).endsWith('/') ? join(target, basename(source)) : target;
      mkdirSync(join(to, '..'), { recursive: true });
      cpSync(from, to, { recursive: true });
    }
  }
}

/** Runs a command of the image with its files in `root`, and returns the process. */
export function runInImage(root, [program, ...args], variables = {}) {
  if (program !== 'node') throw new Error(`Dockerfile: ${program}: is not in the image. Run node.`);
  const here = args.map((arg) => (arg.startsWith('/opt/svc/') ? join(root, arg) : arg));
  const environment = { ...env, ...imageEnvironment(), ...variables };
  return spawn(execPath, here, { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** A PostgreSQL that asks its user `svc` for a password. */
export async function guardedPostgres(password) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-deployment-'));
  chmodSync(folder, 0o755);
  const server = await startPostgres({ keepIn: folder });
  const { Client } = createRequire(join(CHECKOUT, 'examples/reference-host/package.json'))('pg');
  const query = async (sql) => {
    const client = new Client({ connectionString: server.url.replace('svc@', `svc:${password}@`) });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await query(`ALTER ROLE svc PASSWORD '${password}'`);
  writeFileSync(join(folder, 'data/pg_hba.conf'), 'host all all 127.0.0.1/32 scram-sha-256\n');
  await query('SELECT pg_reload_conf()');
  const stop = async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: server.url, query, stop };
}

/** Writes the example configuration with its placeholders filled in, and `others` over it. Returns its path. */
export function filledConfiguration(root, others) {
  const [key] = EXAMPLE.apiKeys;
  const file = join(root, 'host.json');
  const hash = createHash('sha256').update(KEY).digest('hex');
  const filled = {
    ...EXAMPLE,
    secretKey: Buffer.alloc(32, 7).toString('base64'),
    apiKeys: [{ ...key, hash }],
    ...others,
  };
  writeFileSync(file, JSON.stringify(filled));
  return file;
}

/** Starts the host as the image does, and waits for its ready line. */
export async function bootImage(root, file, variables) {
  const { exec } = imageInstructions().find(({ keyword }) => keyword === 'ENTRYPOINT');
  const child = runInImage(root, exec, { SVC_HOST_CONFIG: file, ...variables });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const log = [];
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
  const stop = async () => {
    child.kill('SIGTERM');
    return await ended;
  };
  for await (const line of createInterface({ input: child.stdout })) return { url: JSON.parse(line).url, log, stop };
  throw new Error(`The host ended with ${await ended}: ${log.join('\n')}`);
}
