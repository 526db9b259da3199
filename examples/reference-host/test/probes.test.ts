import { existsSync, writeFileSync } from 'node:fs';
import { startPostgres } from '@svc/tools/postgres';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BootedHost, bootHost, eventually, scratch } from './booted-host.ts';

/** Long enough for the requests of a test on a busy machine. */
const DRAIN_MS = 5000;

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

test('a stopping host is not ready, serves for shutdown.drainMs, and then ends', async () => {
  await boot({ shutdown: { drainMs: DRAIN_MS } });
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
  expect(performance.now() - from).toBeGreaterThan(DRAIN_MS);
});

test('a host whose database is gone stays alive, is not ready, accepts no key, and logs the reason', async () => {
  const postgres = await startPostgres();
  await boot({ store: postgres.url, secretKey: Buffer.alloc(32, 7).toString('base64') });
  expect([await probe('livez'), await probe('readyz')]).toEqual([200, 200]);
  await postgres.stop();
  await eventually(async () => (await probe('readyz')) === 503);
  expect(await probe('livez')).toBe(200);
  expect(await (await fetch(`${host.url}/host/acme-corp/readyz`)).text()).toBe('not ok\n');
  // No key is accepted that another host may have revoked meanwhile. The log says why.
  const headers = { authorization: `Bearer ${KEY}` };
  const answer = await fetch(`${host.url}/host/acme-corp/status`, { headers });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  expect(await answer.json()).toMatchObject({ error: 'service_unavailable' });
  await eventually(() => host.stderr.some((line) => /"event":"store\.|"event":"authentication\.failed"/.test(line)));
  host.process.kill('SIGTERM');
  expect(await host.ended).toBe(0);
});

test('a module that was loaded before the host can finish its work at beforeExit', async () => {
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
