import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'svc-owner-'));
// The account of the server must be able to enter it.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const MODULE = new URL('./postgres.ts', import.meta.url).href;
const PROGRAM = `
import { startPostgres } from ${JSON.stringify(MODULE)};
const server = await startPostgres({ isApart: true });
process.stdout.write(server.url + '\\n');
process.stdin.once('data', async () => { await server.stop(); process.exit(0); });
`;

/** Starts a process that owns a server. */
async function owner() {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { ...process.env, TMPDIR: folder },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const port = Number(new URL(String(line).trim()).port);
  return { child, port };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

test.each(['SIGKILL', 'stop'] as const)(
  'a server apart ends with its owner, after %s',
  { timeout: 120_000 },
  async (way) => {
    const { child, port } = await owner();
    expect(await accepts(port)).toBe(true);
    expect(readdirSync(folder)).toHaveLength(1);
    if (way === 'stop') child.stdin.write('stop\n');
    else child.kill('SIGKILL');
    await once(child, 'exit');
    await expect.poll(() => accepts(port), { timeout: 60_000 }).toBe(false);
    await expect.poll(() => readdirSync(folder), { timeout: 60_000 }).toEqual([]);
  },
);
