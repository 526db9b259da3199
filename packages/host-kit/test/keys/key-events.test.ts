import { generateKeyPairSync } from 'node:crypto';
import { apiKeyLane, hashApiKey } from '@svc/auth/api-key';
import { ed25519Signer } from '@svc/auth/audit';
import { type ConfiguredKey, createHost, storedKeys, systemClock } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { describe, expect, test } from 'vitest';
import type { KeyServices } from '../../src/keys/key-services.ts';
import { createKey, revokeKey } from '../../src/keys/manage.ts';
import { systemRandom } from '../../src/ports/random.ts';

const ADMIN = 'operator-key-that-manages-keys-0123456789';
const admin: ConfiguredKey = {
  id: 'admin',
  hash: hashApiKey(ADMIN),
  tenant: 'acme',
  workspaces: 'all',
  principal: 'p_admin',
  scopes: ['keys:manage', 'runs:read'],
  mode: 'live',
};
const { privateKey } = generateKeyPairSync('ed25519');
const signer = ed25519Signer(privateKey.export({ type: 'pkcs8', format: 'pem' }));

async function startHost(configured: readonly ConfiguredKey[], store = memoryStore()) {
  const keys = storedKeys({ store, configured, lastUsedIntervalMs: 1 });
  let offset = 0;
  const clock = { ...systemClock, now: () => Date.now() + offset };
  const host = createHost({
    store,
    ports: { clock },
    authenticate: [apiKeyLane({ keys, now: clock.now, onUsed: keys.onUsed })],
    features: { apiKeys: keys },
    audit: { signer: await signer },
    engine: async () => ({}),
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true },
  });
  await host.start();
  const send = async (path: string, { key = ADMIN, body }: { key?: string; body?: object } = {}) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const response = await host.fetch(new Request(`http://host.test/host/example/keys${path}`, init));
    return { status: response.status, body: await response.json() };
  };
  return { host, store, send, pass: (ms: number) => (offset += ms) };
}

async function factsOf({ store }: Awaited<ReturnType<typeof startHost>>): Promise<string[]> {
  const facts: string[] = [];
  for await (const { action, actor, target } of store.audit.entries(1, Number.MAX_SAFE_INTEGER)) {
    if (action.startsWith('key.')) facts.push(`${action} ${target} by ${actor ?? 'the host'}`);
  }
  return facts;
}

describe('the events of a key are in the audit log', () => {
  test('from its import or creation to its end, each once', async () => {
    const running = await startHost([admin]);
    const { body } = await running.send('', { body: { name: 'k', scopes: ['runs:read'] } });
    const { id } = body.apiKey;
    for (let use = 0; use < 3; use++) await running.send('', { key: body.key });
    const rotated = await running.send(`/${id}/rotate`, { body: { graceSeconds: 60 } });
    const next = rotated.body.apiKey.id;
    await running.send(`/${next}/revoke`);
    await running.send(`/${next}/revoke`);
    await running.host.stop(0);
    const facts = await factsOf(running);
    expect(facts.sort()).toEqual(
      [
        'key.created admin by the host',
        `key.created ${id} by p_admin`,
        `key.revoked ${next} by p_admin`,
        `key.rotated ${id} by p_admin`,
        'key.used-first admin by the host',
        `key.used-first ${id} by the host`,
      ].sort(),
    );
    expect(JSON.stringify(facts)).not.toContain(body.key);
  });

  test('an import that changes nothing is no event, and a removal is one', async () => {
    const store = memoryStore();
    const first = await startHost([admin, { ...admin, id: 'other', hash: hashApiKey(`${ADMIN}-other`) }], store);
    await first.host.stop(0);
    const second = await startHost([admin], store);
    await second.host.stop(0);
    const third = await startHost([admin], store);
    await third.host.stop(0);
    expect(await factsOf(third)).toEqual([
      'key.created admin by the host',
      'key.created other by the host',
      'key.revoked other by the host',
    ]);
  });

  test('a key that the store holds for an operation is not overwritten by the configuration', async () => {
    const store = memoryStore();
    const first = await startHost([admin], store);
    const { body } = await first.send('', { body: { name: 'k', scopes: ['runs:read'] } });
    await first.host.stop(0);
    const taken = { ...admin, id: body.apiKey.id, hash: hashApiKey(`${ADMIN}-other`) };
    await expect(startHost([admin, taken], store)).rejects.toThrow('belongs to a key that was made by an operation');
    const same = { ...admin, id: 'same', hash: hashApiKey(body.key) };
    await expect(startHost([admin, same], store)).rejects.toThrow('belongs to a key that was made by an operation');
  });
});

test('a request whose key was revoked since it was authenticated makes no key', async () => {
  const { store, host } = await startHost([admin]);
  const services: KeyServices = {
    store,
    clock: systemClock,
    random: systemRandom,
    keys: { settle: async () => {} },
    recordAudit: async () => {},
    hasWorkspace: () => true,
  };
  const authenticated = await apiKeyLane({ keys: storedKeys({ store }) }).authenticate(
    { headers: {} },
    { scheme: 'bearer', token: ADMIN },
    { require: () => undefined },
  );
  if (authenticated?.kind !== 'authenticated') throw new Error('The key was refused.');
  const { principal } = authenticated;
  const asked = { name: 'late', scopes: ['runs:read'] };
  await createKey(services, principal, asked, async () => {});
  await revokeKey(services, principal, 'admin');
  await expect(createKey(services, principal, asked, async () => {})).rejects.toMatchObject({ code: 'key_revoked' });
  await host.stop(0);
});
