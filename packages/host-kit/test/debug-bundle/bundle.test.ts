import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { roleAuthorizer } from '@svc/auth';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { ed25519Signer } from '@svc/auth/audit';
import type { HostOptions, Store } from '@svc/host-kit';
import { verifyDebugBundle } from '@svc/host-kit/debug-bundle';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { sampleEvent } from '../../src/testing/store-contract/samples.ts';
import { KEY, type Serving, serve } from '../streams/serving.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-debug-bundle-'));
let postgres: Awaited<ReturnType<typeof startPostgres>>;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

let serving: Serving;
afterEach(() => serving.close());

const pemOf = () => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

async function begin(options: Partial<HostOptions> = {}): Promise<string> {
  const debugBundles = { signer: await ed25519Signer(pemOf()), keyId: 'bundles-1' };
  serving = await serve({ features: { debugBundles }, ...options });
  return serving.newRun();
}

const pathOf = (runId: string) => `/host/example/runs/${runId}/debug-bundle`;

/** The bundle of a run, verified with the keys of discovery. */
async function bundleOf(runId: string) {
  const { status, body } = await serving.json(pathOf(runId), { 'svc-version': '1' });
  expect(status).toBe(200);
  const bytes = Buffer.from(await (await raw(runId)).arrayBuffer());
  const { signingKeys } = (await serving.json('/.well-known/svc')).body;
  expect(await verifyDebugBundle(bytes, signingKeys)).toMatchObject({ ok: true });
  return { bundle: body, bytes };
}

function raw(runId: string): Promise<Response> {
  const headers = { authorization: `Bearer ${KEY}`, 'svc-version': '1' };
  return fetch(serving.url + pathOf(runId), { headers });
}

const STORES: readonly (readonly [name: string, open: () => Store | Promise<Store>])[] = [
  ['memory', () => memoryStore()],
  ['SQLite', () => sqliteStore(join(folder, 'svc.db'))],
  ['PostgreSQL', () => postgresStore({ url: postgres.url, schema: 'bundles' })],
];

describe.each(STORES)('on the %s store', (_, openStore) => {
  test('the bundle of a run is signed, and records who read it', async () => {
    const audit = { signer: await ed25519Signer(pemOf()) };
    const store = await openStore();
    const runId = await begin({ store, audit });
    await serving.append(runId, 'run.started', 'node.completed', 'run.failed');
    const { bundle } = await bundleOf(runId);
    expect(bundle).toMatchObject({
      ...{ bundleVersion: '2', kind: 'debug', major: 1, run: { runId, status: 'failed' } },
      log: { isWhole: true, events: [{ sequence: 0 }, { sequence: 1 }, { sequence: 2, type: 'run.failed' }] },
      signature: { alg: 'ed25519', keyId: 'bundles-1' },
    });
    const head = await store.audit.head();
    const actions: string[] = [];
    for await (const { action, target } of store.audit.entries(1, head?.atSequence ?? 0))
      if (target === `acme/${runId}`) actions.push(action);
    expect(actions).toEqual(['run.debug-bundle', 'run.debug-bundle']);
  });
});

test('a bundle of a long log has the last 2000 events', async () => {
  const store = memoryStore();
  const runId = await begin({ store });
  await grow(store, runId, 2300, () => ({}));
  const { log } = (await bundleOf(runId)).bundle;
  expect([log.isWhole, log.events.length]).toEqual([false, 2000]);
  expect([log.events[0].sequence, log.events.at(-1).sequence]).toEqual([300, 2299]);
});

test('a bundle of large events has the last 4 MiB of them, and leaves out the largest payloads', async () => {
  const store = memoryStore();
  const runId = await begin({ store });
  await grow(store, runId, 40, (sequence) => ({ text: 'x'.repeat(sequence === 39 ? 1_000_000 : 200_000) }));
  const { bundle, bytes } = await bundleOf(runId);
  expect(bytes.length).toBeLessThan(4_300_000);
  expect(bundle.log.isWhole).toBe(false);
  expect(bundle.log.events.length).toBeGreaterThan(15);
  expect(bundle.log.events.at(-1)).toMatchObject({ sequence: 39, payload: { leftOut: true, bytes: 1_000_011 } });
});

test('a text that no bytes can express is replaced, so that the bundle can be signed', async () => {
  const store = memoryStore();
  const runId = await begin({ store });
  await grow(store, runId, 2, () => ({ text: 'half \ud800' }));
  const { log, redactions } = (await bundleOf(runId)).bundle;
  expect([log.events[1].payload.text, redactions]).toEqual(['half \ufffd', 1]);
});

test('a host without a key serves no bundle and names no key', async () => {
  serving = await serve();
  expect((await raw('run_1')).status).toBe(404);
  expect((await serving.json('/.well-known/svc')).body.signingKeys).toBe(undefined);
});

test('a host without an audit log says that it keeps no decisions', async () => {
  const record = {
    ...{ id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: 'all' as const, principal: 'p' },
    ...{ scopes: ['runs:read', 'audit:read'], mode: 'live' as const },
  };
  const runId = await begin({ authenticate: [apiKeyLane({ keys: memoryKeyStore([record]) })] });
  const { omitted } = (await bundleOf(runId)).bundle;
  expect(omitted).toContainEqual({ section: 'decisions', reason: 'not-kept' });
});

test.each([
  ['in another workspace', 'acme-dev', false],
  ['in the workspace of the run', 'acme-prod', true],
])('a caller that holds audit:read %s', async (_, workspace, hasDecisions) => {
  const record = {
    ...{ id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: 'all' as const, principal: 'p' },
    ...{ scopes: ['runs:read', 'audit:read'], mode: 'live' as const },
  };
  const catalog = [
    { role: 'reader', scopes: ['runs:read'] },
    { role: 'auditor', scopes: ['audit:read'] },
  ];
  const assignments = [
    { workspace: 'acme-prod', role: 'reader' },
    { workspace, role: 'auditor' },
  ];
  const runId = await begin({
    authenticate: [apiKeyLane({ keys: memoryKeyStore([record]) })],
    authorization: { roles: roleAuthorizer({ catalog, directory: { rolesOf: () => assignments } }) },
    audit: { signer: await ed25519Signer(pemOf()) },
  });
  const { decisions, omitted } = (await bundleOf(runId)).bundle;
  expect(decisions !== undefined).toBe(hasDecisions);
  const omission = { section: 'decisions', reason: 'not-permitted' };
  expect(omitted).toEqual(hasDecisions ? expect.not.arrayContaining([omission]) : expect.arrayContaining([omission]));
});

test('former keys are told in discovery, and two keys with one id are refused', async () => {
  const former = { keyId: 'bundles-0', publicKey: 'A'.repeat(43), retiredAt: '2026-01-01T00:00:00Z' };
  const signer = await ed25519Signer(pemOf());
  await begin({ features: { debugBundles: { signer, formerKeys: [former] } } });
  const { signingKeys } = (await serving.json('/.well-known/svc', { 'svc-version': '2' })).body;
  expect(signingKeys[0].keyId).toMatch(/^[A-Za-z0-9_-]{16}$/);
  expect(signingKeys[1]).toEqual({ ...former, alg: 'ed25519', use: 'certification-bundle' });
  const twice = { signer, keyId: 'bundles-0', formerKeys: [former] };
  await expect(serve({ features: { debugBundles: twice } })).rejects.toThrow(
    'debugBundles: two keys have the same keyId',
  );
});

/** Fills the log of a run, as an engine would. */
async function grow(store: Store, runId: string, events: number, payload: (sequence: number) => object): Promise<void> {
  await serving.append(runId, 'run.started');
  await store.transaction(async (transaction) => {
    const lookup = await store.runs.forAppend([runId], transaction);
    const added = Array.from({ length: events - 1 }, (_, index) => ({
      ...{ ...sampleEvent(index + 1), runId, eventId: `evt_${runId}_${index + 1}` },
      payload: JSON.parse(JSON.stringify(payload(index + 1))),
    }));
    await store.events.insert(added, transaction);
    await store.runs.update(
      lookup.map((run) => ({ ...run, lastSequence: events - 1 })),
      transaction,
    );
  });
}
