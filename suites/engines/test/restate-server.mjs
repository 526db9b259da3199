// A real Restate server on the loopback interface, with its data in a temporary folder.
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { freePort } from '../../../tools/free-port.ts';

const BINARY = `@restatedev/restate-server-${platform()}-${arch()}/bin/restate-server`;
const READY_MS = 60_000;

/**
 * Starts a server that sends nothing to its vendor, and signs its calls.
 *
 * @returns its URLs and its folder. `crash` kills it with SIGKILL, `start` starts it again on its data, `stop` ends it for good
 * @throws {Error} with its log, when it does not become ready
 */
export async function startRestate() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-restate-'));
  const [fabric, ingress, admin] = [await freePort(), await freePort(), await freePort()];
  const ingressUrl = `http://127.0.0.1:${ingress}`;
  const adminUrl = `http://127.0.0.1:${admin}`;
  const binary = createRequire(import.meta.url).resolve(BINARY);
  const args = ['--no-logo', '--listen-mode', 'tcp', '--bind-ip', '127.0.0.1', '--bind-port', String(fabric)];
  args.push('--advertised-host', '127.0.0.1', '--node-name', 'suite', '--base-dir', join(folder, 'data'));
  const settings = {
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE: keyIn(folder),
    RESTATE_DEFAULT_NUM_PARTITIONS: '4',
    // So that a test can search its files.
    RESTATE_WORKER__STORAGE__ROCKSDB_DISABLE_WAL_COMPRESSION: 'true',
    RESTATE_LOG_SERVER__ROCKSDB_DISABLE_WAL_COMPRESSION: 'true',
    RESTATE_BIFROST__LOCAL__ROCKSDB_DISABLE_WAL_COMPRESSION: 'true',
    RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '256 MB',
  };
  let server;

  async function start() {
    const log = openSync(join(folder, 'log'), 'a');
    server = spawn(binary, args, { env: { PATH: env.PATH, ...settings }, stdio: ['ignore', log, log] });
    closeSync(log);
    const isUp = (url) =>
      fetch(url)
        .then(({ ok }) => ok)
        .catch(() => false);
    for (const end = Date.now() + READY_MS; Date.now() < end && server.exitCode === null; ) {
      if ((await isUp(`${ingressUrl}/restate/health`)) && (await isUp(`${adminUrl}/health`))) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await crash();
    throw new Error(`Restate did not become ready: ${readFileSync(join(folder, 'log'), 'utf8')}`);
  }

  async function crash() {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exit = once(server, 'exit');
    server.kill('SIGKILL');
    await exit;
  }

  await start();
  return {
    ...{ ingressUrl, adminUrl, folder, start, crash },
    /** Removes all that a killed server has stored. */
    forget: () => rmSync(join(folder, 'data'), { recursive: true, force: true }),
    /** The public key of its signatures. */
    identityKey: /publickeyv1_[A-Za-z0-9]+/.exec(readFileSync(join(folder, 'log'), 'utf8'))?.[0],
    async stop() {
      await crash();
      rmSync(folder, { recursive: true, force: true });
    },
    /** The rows of a query over what Restate has stored. */
    async query(sql) {
      const headers = { 'content-type': 'application/json', accept: 'application/json' };
      const sent = { method: 'POST', headers, body: JSON.stringify({ query: sql }) };
      return (await (await fetch(`${adminUrl}/query`, sent)).json()).rows;
    },
  };
}

function keyIn(folder) {
  const path = join(folder, 'key.pem');
  writeFileSync(path, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return path;
}
