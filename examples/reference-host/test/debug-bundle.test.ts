import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { asDescribed } from '@svc/tools/as-described';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AcmeHost, BYOK, DEV, KEY, OTHER_TENANT, READER, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';

const send = asDescribed(fetch);
const OPERATOR = 'operator_brought_key_that_may_read_the_audit_log';
const SECRET = 'a-secret-that-the-tenant-has-stored-0123';
const bin = fileURLToPath(new URL('../../../packages/host-kit/dist/cli/main.js', import.meta.url));
const node = fileURLToPath(new URL('../../../node_modules/node/bin/node', import.meta.url));

let host: AcmeHost;
let runId: string;
beforeAll(async () => {
  const fields = { tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_operator' };
  const scopes = ['runs:create', 'runs:read', 'webhooks:manage', 'audit:read'];
  const keys = (key: string, id: string, held: readonly string[]) => ({ ...fields, id, key, scopes: held });
  host = await startAcme(
    { durable: true, retryPolicy: { maxAttempts: 1, backoff: 'fixed', delayMs: 10 } },
    {
      apiKeys: [
        keys(OPERATOR, 'key_operator', scopes),
        keys(KEY, 'key_1', scopes.slice(0, 3)),
        keys(READER, 'key_reader', ['runs:read']),
        keys(BYOK, 'key_byok', ['byok:manage']),
        { ...keys(DEV, 'key_dev', scopes), workspaces: ['acme-dev'] },
        { ...keys(OTHER_TENANT, 'key_other', scopes), tenant: 'umbrella', workspaces: ['*'] },
      ],
    },
  );
  host.receiver.answer = 500;
  const put = { method: 'PUT', key: BYOK, body: { value: SECRET } };
  expect((await host.call('/host/example/byok/secrets/db', put)).status).toBeLessThan(300);
  const subscription = { url: host.receiver.url, events: ['run.completed'], tenantId: 'acme-prod' };
  await host.call('/v1/webhooks', { body: subscription });
  const inputs = { text: `connect with ${SECRET}`, password: 'hunter2', note: 'kept' };
  const created = await host.call('/v1/runs', { key: OPERATOR, body: { workflowId: 'echo', inputs } });
  runId = created.body.runId;
  await eventually(async () => (await host.call(`/v1/runs/${runId}`)).body.status === 'completed');
  await eventually(async () => (await bundle(OPERATOR)).json.deliveries?.lastAttempts.length > 0);
});
afterAll(() => host.stop());

async function bundle(key: string, prefix = '', headers: Record<string, string> = {}) {
  const path = `${prefix}/host/example/runs/${runId}/debug-bundle`;
  const response = await send(host.url() + path, { headers: { authorization: `Bearer ${key}`, ...headers } });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes, json: JSON.parse(bytes.toString('utf8')) };
}

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function verify(bytes: Uint8Array, ...options: string[]): Promise<Ended> {
  const path = host.path('bundle.json');
  writeFileSync(path, bytes);
  return new Promise((resolve) => {
    const child = execFile(node, [bin, 'verify', path, ...options], (_error, stdout, stderr) =>
      resolve({ status: child.exitCode, stdout, stderr }),
    );
  });
}

test('a debug bundle has the run, its log, its deliveries and the decisions about it, and the command verifies it', async () => {
  const { status, headers, bytes, json } = await bundle(OPERATOR);
  expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-store']);
  expect(headers.get('content-disposition')).toBe(`attachment; filename="debug-bundle-${runId}.json"`);
  expect(json).toMatchObject({ bundleVersion: '2', kind: 'debug', omitted: [], run: { status: 'completed' } });
  const types = json.log.events.map(({ type }: { type: string }) => type);
  expect(types).toEqual(['run.started', 'node.started', 'node.completed', 'run.completed']);
  expect(json.deliveries.queued[0]).toMatchObject({ runId, eventType: 'run.completed', state: 'dead-lettered' });
  expect(json.deliveries.lastAttempts[0]).toMatchObject({ runId, outcome: 'failed', status: 500 });
  const actions = json.decisions.entries.map(({ action }: { action: string }) => action);
  // The bundles that were read before are in it, and the requests for the run.
  expect(actions.filter((action: string) => action !== 'request').slice(0, 2)).toEqual([
    'run.create',
    'run.debug-bundle',
  ]);
  const verified = await verify(bytes, '--host', host.url());
  expect([verified.status, JSON.parse(verified.stdout)]).toMatchObject([0, { verified: true, events: 4 }]);
});

test('secrets are redacted in the bundle', async () => {
  const { bytes, json } = await bundle(OPERATOR);
  expect(bytes.toString('utf8')).not.toContain(SECRET);
  expect(bytes.toString('utf8')).not.toContain('hunter2');
  expect(json.run.inputs).toEqual({ text: 'connect with [REDACTED:db]', password: '[REDACTED]', note: 'kept' });
  expect(json.redactions).toBeGreaterThan(1);
});

test('a changed bundle, a bundle that is cut off and the keys of another host are refused', async () => {
  const { bytes } = await bundle(OPERATOR);
  const text = bytes.toString('utf8');
  expect(await verify(Buffer.from(text.replace('"completed"', '"cancelled"')), '--host', host.url())).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('signature-invalid'),
  });
  expect(await verify(bytes.subarray(0, -1), '--host', host.url())).toMatchObject({ status: 1 });
  const keys = host.path('keys.json');
  const { signingKeys } = (await host.call('/.well-known/svc')).body;
  writeFileSync(keys, JSON.stringify([{ ...signingKeys[0], publicKey: 'A'.repeat(43) }]));
  expect(await verify(bytes, '--keys', keys)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('signature-invalid'),
  });
});

test('both discovery documents name the key, which survives a restart', async () => {
  const before = (await bundle(OPERATOR)).bytes;
  const documents = [];
  for (const major of ['1', '2']) documents.push((await host.call('/.well-known/svc', { major })).body);
  for (const { signingKeys, extensions } of documents) {
    expect(signingKeys).toEqual([
      { keyId: expect.any(String), alg: 'ed25519', publicKey: expect.any(String), use: 'certification-bundle' },
    ]);
    expect(signingKeys).toEqual(documents[0].signingKeys);
    expect(extensions['example.debug-bundles']).toEqual({ path: '/host/example/runs' });
  }
  await host.reboot({});
  expect((await verify(before, '--host', host.url())).status).toBe(0);
});

test('a section that the caller may not read is left out and named', async () => {
  const { json } = await bundle(KEY);
  expect(json.omitted).toEqual([{ section: 'decisions', reason: 'not-permitted' }]);
  expect([json.decisions, json.deliveries.isWhole]).toEqual([undefined, true]);
  const reader = await bundle(READER);
  expect(reader.json.omitted).toEqual([
    { section: 'deliveries', reason: 'not-permitted' },
    { section: 'decisions', reason: 'not-permitted' },
  ]);
  expect((await verify(reader.bytes, '--host', host.url())).status).toBe(0);
});

test('the ids of a bundle are those of the major: of 1 under /v1, of the version header otherwise', async () => {
  expect((await bundle(OPERATOR, '/v1')).json.run.runId).toBe(runId);
  expect((await bundle(OPERATOR, '', { 'svc-version': '2' })).json.run.runId).toBe(`acme/${runId}`);
});

test.each([
  [DEV, 403, 'run_forbidden'],
  [OTHER_TENANT, 404, 'not_found'],
  [BYOK, 403, 'forbidden'],
  ['unknown', 401, 'unauthenticated'],
])('the bundle is refused to the key %s with %i', async (key, status, error) => {
  const refused = await bundle(key);
  expect([refused.status, refused.json.error]).toEqual([status, error]);
});
