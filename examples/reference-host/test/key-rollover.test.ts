import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditKeys } from '../src/audit-signer.ts';
import { KEY, startAcmeProcess } from './acme-host.ts';
import { type BootedHost, bootHost, eventually, HANG_MS, launch, scratch, startReceiver } from './booted-host.ts';

const newKey = () => randomBytes(32).toString('base64');
/** The id of a key, as messages show it. */
const keyId = (key: string) =>
  createHmac('sha256', Buffer.from(key, 'base64')).update('svc secret key id').digest('hex').slice(0, 16);
const resealed = ({ stderr }: { readonly stderr: readonly string[] }) =>
  stderr.map((line) => JSON.parse(line)).filter(({ event }) => event === 'secrets.resealed');

test(`${covers('webhooks.secret.encrypted-at-rest')} replaces the key, and drops the former one`, async () => {
  const host = await startAcmeProcess({ durable: true });
  const { receiver } = host;
  const heard = async (count: number) => {
    await host.call('/v1/runs', { body: { workflowId: 'echo' } });
    await eventually(() => receiver.deliveries.length === count);
  };
  try {
    const body = { url: receiver.url, events: ['run.completed'], tenantId: 'acme-prod' };
    receiver.trust((await host.call('/v1/webhooks', { body })).body.secret);
    await heard(1);
    // The host made this key at its first start.
    const former = host.kept('-secret-key');
    const secretKey = newKey();
    await host.reboot({}, { secretKey, formerSecretKeys: [former] });
    await eventually(() => resealed({ stderr: host.stderr() }).length === 1);
    expect(resealed({ stderr: host.stderr() })).toMatchObject([{ level: 'info', resealed: 1, unopenable: 0 }]);
    await heard(2);
    await host.reboot({}, { secretKey, formerSecretKeys: [] });
    await heard(3);
    // Without the key the host does not start, and names the key.
    await host.end('SIGTERM');
    const config = JSON.parse(readFileSync(host.path('config.json'), 'utf8'));
    const other = newKey();
    const without = launch(host.path('config.json'), { ...config, secretKey: other });
    expect(await without.ended).toBe(2);
    expect(without.stderr.filter((line) => !line.startsWith('{'))).toEqual([
      `secretKey: the database holds records sealed with the key ${keyId(secretKey)}; the keys of this host are ${keyId(other)}. ` +
        'Restore the missing key as secretKey, or add it to the former keys.',
    ]);
  } finally {
    await host.stop();
  }
});

describe('hosts that share a PostgreSQL', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());

  test(
    'replace their key one after the other, while they deliver and verify',
    async () => {
      const folder = scratch();
      const receiver = await startReceiver();
      const hosts = new Map<string, BootedHost>();
      const [older, newer] = [newKey(), newKey()];

      async function run(name: string, keys: object, audit: object = {}): Promise<void> {
        const before = hosts.get(name);
        before?.process.kill('SIGTERM');
        await before?.ended;
        const key = { id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['*'], principal: 'p_1' };
        const scopes = ['runs:create', 'runs:read', 'webhooks:manage', 'audit:read'];
        const config = {
          listen: { port: 0 },
          store: postgres.url,
          tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
          apiKeys: [{ ...key, scopes }],
          webhooks: { durable: true, retryPolicy: { maxAttempts: 1 } },
          egress: { allowLoopback: [receiver.port] },
          audit: { checkpointIntervalEntries: 5, ...audit },
          ...keys,
        };
        hosts.set(name, await bootHost(folder.path(`${name}.json`), config));
      }
      async function call(name: string, path: string, body?: object) {
        const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
        const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
        const response = await fetch(`${hosts.get(name)?.url}${path}`, init);
        return { status: response.status, body: await response.json() };
      }
      /** Creates runs on both hosts. Either may deliver, in one attempt, so a host without the key fails the check. */
      async function allIsWell(): Promise<void> {
        const before = receiver.deliveries.length;
        for (let turn = 0; turn < 12; turn++) {
          const workflow = { workflowId: 'echo', tenantId: 'acme-prod' };
          expect((await call(turn % 2 === 0 ? 'a' : 'b', '/v1/runs', workflow)).status).toBe(201);
        }
        await eventually(() => receiver.deliveries.length === before + 12);
        for (const name of ['a', 'b']) {
          const { body } = await call(name, '/v1/audit/verify?fromSeq=1&toSeq=100000');
          expect([body.chainValid, body.checkpointsValid]).toEqual([true, true]);
        }
      }

      try {
        await Promise.all([run('a', { secretKey: older }), run('b', { secretKey: older })]);
        const registration = { url: receiver.url, events: ['run.completed'], tenantId: 'acme-prod' };
        receiver.trust((await call('a', '/v1/webhooks', registration)).body.secret);
        await allIsWell();
        // First, each host learns the new key, one after the other.
        await run('a', { secretKey: older, formerSecretKeys: [newer] });
        await allIsWell();
        await run('b', { secretKey: older, formerSecretKeys: [newer] });
        // Then the hosts seal with the new key, one after the other.
        await run('a', { secretKey: newer, formerSecretKeys: [older] });
        await eventually(() => resealed(hosts.get('a') ?? { stderr: [] }).length > 0);
        await allIsWell();
        await run('b', { secretKey: newer, formerSecretKeys: [older] });
        await eventually(() => resealed(hosts.get('b') ?? { stderr: [] }).length > 0);
        expect(resealed(hosts.get('b') ?? { stderr: [] }).at(-1)).toMatchObject({ resealed: 0, unopenable: 0 });
        // Last, the former key is removed. Its public key stays, to verify the checkpoints that it signed.
        const discovery = await (await fetch(`${hosts.get('a')?.url}/.well-known/svc`)).json();
        const formerPublicKeys = [await publicKeyOf(older), discovery.auth.auditLogIntegrity.checkpointPublicKey];
        await run('a', { secretKey: newer }, { formerPublicKeys });
        await run('b', { secretKey: newer }, { formerPublicKeys });
        await allIsWell();
      } finally {
        for (const host of hosts.values()) host.process.kill('SIGKILL');
        await Promise.all([...hosts.values()].map(({ ended }) => ended));
        await receiver.close();
        folder.remove();
      }

      /** Returns the public key of the checkpoints that a host signs with this secret key. */
      async function publicKeyOf(secretKey: string): Promise<string> {
        const intervals = { checkpointIntervalEntries: 5, checkpointIntervalSeconds: 300 };
        const audit = { ...intervals, signingKeyFile: null, formerPublicKeys: [], checkpointFile: null, witness: null };
        const { signer } = await auditKeys({ audit, store: postgres.url }, Buffer.from(secretKey, 'base64'), []);
        return signer.publicKey;
      }
    },
    5 * HANG_MS,
  );
});

test('are refused a new key without pseudonymKey when principals are pseudonymous', async () => {
  const folder = scratch();
  const issuers = [{ issuer: 'https://idp.example.com', audience: 'svc', pseudonymous: true }];
  const config = {
    listen: { port: 0 },
    store: 'memory:',
    secretKey: newKey(),
    formerSecretKeys: [newKey()],
    oidc: { issuers },
  };
  const host = launch(folder.path('config.json'), config);
  expect(await host.ended).toBe(2);
  expect(host.stderr.join('\n')).toContain('pseudonymKey: is required when formerSecretKeys is set');
  folder.remove();
});
