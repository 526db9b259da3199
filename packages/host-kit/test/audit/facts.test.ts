import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { anonymousActor } from '@svc/auth';
import { ed25519Signer } from '@svc/auth/audit';
import type { WorkflowEngine } from '@svc/host-kit';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { covers } from '@svc/tools/covers';
import { afterAll, describe, expect, test } from 'vitest';
import { factAbout } from '../../src/audit/fact.ts';
import { systemRandom } from '../../src/ports/random.ts';
import { recordedHost } from '../host/recorded-host.ts';

const folder = mkdtempSync(join(tmpdir(), 'audit-facts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe(covers('auth.audit.base-fields'), () => {
  test('no detail of an action replaces a field that every fact has', () => {
    const tenancy = { tenant: 'acme', workspaces: ['public'], mode: 'live' } as const;
    const principal = anonymousActor({ tenancy, issuer: 'urn:svc:host', randomBytes: systemRandom });
    const base = { tenant: 'acme', mode: 'live', credential: principal.credentialId, lane: principal.lane };
    const others = { tenant: 'other', mode: 'branch', credential: 'c', lane: 'l', binding: 'b', workspace: 'w' };
    const details = { ...base, ...others, extra: 1 };
    // @ts-expect-error the compiler refuses the names of these fields
    const fact = factAbout(principal, { action: 'run.fork', target: null, at: 0, details });
    expect(fact.details).toEqual({ ...base, binding: principal.binding, workspace: 'public', extra: 1 });
  });

  test('every entry of a host has the mode of its data, also that of a fork', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const signer = await ed25519Signer(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const engine: WorkflowEngine = {
      version: 1,
      forks: ['replay', 'branch'],
      execute: async () => ({ status: 'completed', outputs: {} }),
    };
    const path = join(folder, 'host.db');
    const serving = await recordedHost({ store: sqliteStore(path), engine, audit: { signer } });
    const source = await serving.start('any');
    await serving.comesTo(source, 'completed');
    for (const mode of ['branch', 'replay']) {
      const { status, body } = await serving.call(`/v1/runs/${source}:fork`, { mode, fromSeq: 1 });
      expect(status).toBe(201);
      await serving.comesTo(body.runId, 'completed');
    }
    await serving.stop();
    const database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare('SELECT action, details FROM audit_entries').all();
    database.close();
    const entries = rows.map(({ action, details }) => ({ action, details: JSON.parse(String(details)) }));
    expect(entries.length).toBeGreaterThan(3);
    for (const { details } of entries) expect(details).toMatchObject({ tenant: 'acme', mode: 'live', lane: 'api-key' });
    const forks = entries.filter(({ action }) => action === 'run.fork');
    expect(forks.map(({ details }) => details.forkMode)).toEqual(['branch', 'replay']);
  });
});

test('an entry says which run opened a secret or changed a file, for whom, and shows no content', async () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const signer = await ed25519Signer(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const engine: WorkflowEngine = {
    async execute(_run, { secret, files }) {
      await secret('openai');
      await secret('openai');
      await files.put({ path: 'a.md', content: 'x' });
      await files.remove('a.md');
      return { status: 'completed', outputs: {} };
    },
  };
  const path = join(folder, 'reach.db');
  const options = { store: sqliteStore(path), engine, audit: { signer }, features: { workspaceFiles: {} } };
  const serving = await recordedHost(options);
  await serving.call('/host/example/byok/secrets/openai', { value: 'sk-0123456789' }, { method: 'PUT' });
  const run = await serving.start('any');
  await serving.comesTo(run, 'completed');
  await serving.stop();
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare('SELECT action, actor, target, details FROM audit_entries').all();
  database.close();
  const ofRun = rows.filter(({ action }) => /^(?:byok.open|workspace[.])/.test(String(action)));
  const of = { run, tenant: 'acme', mode: 'live', workspace: 'acme-prod' };
  expect(ofRun.map(({ details, ...entry }) => ({ ...entry, details: JSON.parse(String(details)) }))).toEqual([
    { action: 'byok.open', actor: 'p_1', target: 'openai', details: { of: 'workspace', ...of } },
    { action: 'workspace.put', actor: 'p_1', target: 'acme-prod', details: { version: 1, ...of } },
    { action: 'workspace.remove', actor: 'p_1', target: 'acme-prod', details: { version: 2, ...of } },
  ]);
  expect(JSON.stringify(rows)).not.toMatch(/sk-0123|a\.md/);
});

test('a run of no workspace is created, delivered in major 2 alone, and logged', async () => {
  const engine: WorkflowEngine = {
    execute: async () => ({ status: 'completed', outputs: {} }),
  };
  const serving = await recordedHost({ store: sqliteStore(join(folder, 'wide.db')), engine });
  await serving.subscribe(1, ['run.completed']);
  const registered = await serving.call(
    '/webhooks',
    { url: 'https://hooks.example/v2', events: ['run.completed'] },
    { wide: true },
  );
  expect(registered.status).toBe(201);
  const narrow = await serving.start('any');
  const runId = await serving.start('any', {}, true);
  await serving.comesTo(runId, 'completed');
  await serving.comesTo(narrow, 'completed');
  await serving.deliveriesOf(narrow, 2);
  const [delivery, ...others] = await serving.deliveriesOf(runId, 1);
  expect([delivery?.webhookId, others]).toEqual([registered.body.webhookId, []]);
  expect(serving.logged).toContainEqual({
    ...{ level: 'warn', event: 'run.without-workspace', runId, tenant: 'acme' },
    message: expect.stringContaining('"tenantId": "acme-prod"'),
  });
  await serving.stop();
});
