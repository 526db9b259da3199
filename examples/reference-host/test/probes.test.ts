import { existsSync, writeFileSync } from 'node:fs';
import { startPostgres } from '@svc/tools/postgres';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BootedHost, bootHost, eventually, scratch } from './booted-host.ts';

const KEY = 'operator_brought_key_of_enough_characters';

let host: BootedHost;
let folder: ReturnType<typeof scratch>;

async function boot(config: object, nodeOptions: string[] = []) {
  host = await bootHost(
    folder.path('config.json'),
    {
      listen: { port: 0 },
      org: 'acme-corp',
      store: `sqlite:${folder.path('svc.db')}`,
      tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
      apiKeys: [
        { id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['*'], principal: 'p_1', scopes: ['webhooks:manage'] },
      ],
      ...config,
    },
    nodeOptions,
  );
}

beforeEach(() => {
  folder = scratch();
});
afterEach(async () => {
  host.process.kill('SIGKILL');
  await host.ended;
  folder.remove();
});

const probe = async (name: string) => (await fetch(`${host.url}/host/acme-corp/${name}`)).status;

const status = async () => {
  const headers = { authorization: `Bearer ${KEY}` };
  return (await fetch(`${host.url}/host/acme-corp/status`, { headers })).json();
};

test('a host that is told to stop is first not ready, goes on for a while, and then ends', async () => {
  await boot({ shutdown: { drainMs: 1500 } });
  expect([await probe('livez'), await probe('readyz')]).toEqual([200, 200]);
  const from = performance.now();
  host.process.kill('SIGTERM');
  await eventually(async () => (await probe('readyz')) === 503);
  expect(await probe('livez')).toBe(200);
  expect(await status()).toMatchObject({
    ready: false,
    checks: [{ name: 'lifecycle', ok: false, reason: 'draining' }, { ok: true }, { ok: true }],
  });
  expect(await host.ended).toBe(0);
  expect(performance.now() - from).toBeGreaterThan(1500);
});

test('a host whose database goes away lives on, is not ready, and says why to who may know', async () => {
  const postgres = await startPostgres();
  await boot({ store: postgres.url, secretKey: Buffer.alloc(32, 7).toString('base64') });
  expect([await probe('livez'), await probe('readyz')]).toEqual([200, 200]);
  await postgres.stop();
  await eventually(async () => (await probe('readyz')) === 503);
  expect(await probe('livez')).toBe(200);
  expect(await (await fetch(`${host.url}/host/acme-corp/readyz`)).text()).toBe('not ok\n');
  const { ready, checks, ...others } = await status();
  expect(ready).toBe(false);
  expect(checks).toContainEqual({ name: 'store', ok: false, reason: 'failed' });
  // What waits could not be asked.
  expect(others).toEqual({});
  host.process.kill('SIGTERM');
  expect(await host.ended).toBe(0);
}, 60_000);

test('what was loaded before the host ends after it, in its own time but soon', async () => {
  const [preload, ended] = [folder.path('preload.mjs'), folder.path('ended')];
  const flush = `new Promise((resolve) => setTimeout(resolve, 50)).then(() => writeFileSync(${JSON.stringify(ended)}, ''))`;
  writeFileSync(
    preload,
    `import { writeFileSync } from 'node:fs'; process.once('beforeExit', () => { ${flush}; setInterval(() => {}, 1000); });`,
  );
  await boot({}, ['--import', preload]);
  host.process.kill('SIGTERM');
  expect(await host.ended).toBe(0);
  expect(existsSync(ended)).toBe(true);
});
