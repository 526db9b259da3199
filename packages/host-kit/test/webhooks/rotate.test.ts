import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anonymousActor, type Principal } from '@svc/auth';
import type { AuditFact } from '@svc/auth/audit';
import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { secretFingerprint } from '@svc/webhook-verify';
import { afterAll, describe, expect, test } from 'vitest';
import type { Store } from '../../src/ports/store.ts';
import type { Subscription } from '../../src/ports/subscriptions.ts';
import { secretBox } from '../../src/sealing/secret-box.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import type { Announce } from '../../src/webhooks/announce.ts';
import { forgetExpiredSecrets } from '../../src/webhooks/forget-secrets.ts';
import { rotateSecret } from '../../src/webhooks/rotate.ts';
import { virtualClock } from '../simulation/virtual-clock.ts';
import { sampleSubscription } from './samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-rotate-'));
const postgres = await startPostgres();
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});
let files = 0;
const STORES = [
  { name: 'memory', open: () => memoryStore() },
  { name: 'sqlite', open: () => sqliteStore(join(folder, `${files++}.db`)) },
  { name: 'postgres', open: () => postgresStore({ url: postgres.url, schema: `rotate_${files++}`, connections: 4 }) },
];

const START = 1_780_000_000_000;
const box = secretBox(randomBytes(32), randomBytes);
const standardSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const callerOf = (tenant: string, workspaces: readonly string[] = ['w1']): Principal =>
  anonymousActor({ tenancy: { tenant, workspaces, mode: 'live' }, issuer: 'urn:svc:host', randomBytes });
const caller = callerOf('acme');

async function registered(open: () => Store | Promise<Store>, fields: Partial<Subscription> = {}) {
  const store = await open();
  const clock = virtualClock(START);
  const facts: AuditFact[] = [];
  const first = standardSecret();
  const subscription = sampleSubscription({
    workspaces: ['w1'],
    signatureAlgorithms: ['v1', 'standard-webhooks-1'],
    sealedSecret: box.seal(first, 'whk_1'),
    secretFingerprint: secretFingerprint(first),
    ...fields,
  });
  await store.transaction((transaction) => store.subscriptions.insert(subscription, transaction));
  const recordAudit = async (fact: AuditFact) => void facts.push(fact);
  const announced: string[] = [];
  const announce: Announce = async (announcements) => {
    announced.push(...announcements.map(({ name }) => name));
  };
  const silent = { announce, dispatcher: { wake() {} } };
  const options = { store, clock, secrets: box, overlapSeconds: 3600, recordAudit, ...silent };
  return {
    ...options,
    facts,
    announced,
    first,
    rotate: (secret: string, principal = caller, change: Partial<typeof options> = {}) =>
      rotateSecret({ ...options, ...change }, principal, 'whk_1', secret),
    pass: (ms: number) => {
      clock.at(clock.now() + ms, () => {});
      return clock.step(clock.now() + ms);
    },
    async secrets() {
      const now = await store.subscriptions.read('whk_1');
      if (now === undefined) throw new Error('The subscription is gone.');
      return {
        newest: box.open(now.sealedSecret, 'whk_1'),
        previous: now.previousSecret && box.open(now.previousSecret.sealed, 'whk_1'),
        expiresAt: now.previousSecret?.expiresAt,
        fingerprint: now.secretFingerprint,
      };
    },
  };
}

describe.each(STORES)(`in the $name store: ${covers('webhooks.signature.standard-rotation')}`, ({ open }) => {
  test('installs the new secret, and keeps the previous one for the overlap', async () => {
    const { rotate, secrets, first, facts, store } = await registered(open);
    const second = standardSecret();
    const expiresAt = START + 3_600_000;
    expect(await rotate(second)).toEqual({ rotatedAt: START, previousSecretExpiresAt: expiresAt });
    expect(await secrets()).toEqual({
      newest: second,
      previous: first,
      expiresAt,
      fingerprint: secretFingerprint(second),
    });
    expect(facts).toMatchObject([{ action: 'webhook.rotate-secret', target: 'acme/whk_1', actor: caller.id }]);
    expect(JSON.stringify(facts)).not.toMatch(/whsec_/);
    await store.close();
  });

  test('a second rotation retires the oldest secret at once', async () => {
    const { rotate, secrets, pass, store } = await registered(open);
    const [second, third] = [standardSecret(), standardSecret()];
    await rotate(second);
    await pass(1000);
    await rotate(third);
    expect(await secrets()).toMatchObject({ newest: third, previous: second, expiresAt: START + 1000 + 3_600_000 });
    await store.close();
  });

  test('serializes two rotations at the same time: the second one replaces the secret of the first', async () => {
    const { rotate, secrets, first, facts, store } = await registered(open);
    const [second, third] = [standardSecret(), standardSecret()];
    await Promise.all([rotate(second), rotate(third)]);
    const { newest, previous } = await secrets();
    expect([newest, previous].sort()).toEqual([second, third].sort());
    expect(previous).not.toBe(first);
    expect(facts.length).toBe(2);
    await store.close();
  });

  test('a repeated rotation to the same secret gets the first answer and changes nothing', async () => {
    const { rotate, secrets, first, facts, announced, pass, store } = await registered(open);
    const second = standardSecret();
    const [one, other] = await Promise.all([rotate(second), rotate(second)]);
    await pass(60_000);
    expect(await rotate(second)).toEqual(one);
    expect(other).toEqual(one);
    expect(await secrets()).toMatchObject({ newest: second, previous: first });
    expect(facts.length).toBe(1);
    expect(announced).toEqual(['subscription.secret-rotated']);
    await store.close();
  });

  test('keeps the secret when the audit fact cannot be written', async () => {
    const { rotate, secrets, first, store } = await registered(open);
    const recordAudit = () => Promise.reject(new Error('the audit log cannot be written'));
    await expect(rotate(standardSecret(), caller, { recordAudit })).rejects.toThrow('cannot be written');
    expect(await secrets()).toMatchObject({ newest: first, previous: undefined });
    await store.close();
  });
});

describe('rejects a rotation', () => {
  const open = memoryStore;

  test('to the current secret, after the overlap', async () => {
    const { rotate, first, pass } = await registered(open);
    const unchanged = { code: 'validation_error', details: { fields: [{ field: 'secret' }] } };
    await expect(rotate(first)).rejects.toMatchObject(unchanged);
    const second = standardSecret();
    await rotate(second);
    await pass(3_600_000);
    await expect(rotate(second)).rejects.toMatchObject(unchanged);
  });

  test(covers('webhooks.secret.no-rotation-operation'), async () => {
    const { rotate, secrets, first } = await registered(open, { signatureAlgorithms: ['v1'] });
    const refused = rotate(standardSecret());
    await expect(refused).rejects.toMatchObject({ code: 'validation_error', status: 400 });
    await expect(refused).rejects.toThrow('register it again');
    expect(await secrets()).toMatchObject({ newest: first, previous: undefined });
  });

  test.each([
    ['of another tenant', callerOf('umbrella'), 'not_found'],
    ['of another workspace', callerOf('acme', ['w2']), 'forbidden'],
  ])('by a caller %s', async (_who, principal, code) => {
    const { rotate, secrets, first } = await registered(open);
    await expect(rotate(standardSecret(), principal)).rejects.toMatchObject({ code });
    expect(await secrets()).toMatchObject({ newest: first });
  });

  test('of a subscription that is unregistered at the same time', async () => {
    const { rotate, store, facts } = await registered(open);
    const { tenancy } = caller;
    const removing: Store = {
      ...store,
      transaction: async (work) => {
        await store.transaction((transaction) => store.subscriptions.remove(tenancy, 'whk_1', transaction));
        return store.transaction(work);
      },
    };
    await expect(rotate(standardSecret(), caller, { store: removing })).rejects.toMatchObject({ code: 'not_found' });
    expect(facts).toEqual([]);
  });
});

test('deletes a replaced secret after the overlap', async () => {
  const { rotate, secrets, store, clock, pass } = await registered(memoryStore);
  const second = standardSecret();
  await rotate(second);
  const round = forgetExpiredSecrets(store, clock);
  await pass(3_599_999);
  await round(new AbortController().signal);
  expect((await secrets()).previous).toBeDefined();
  await pass(1);
  await round(new AbortController().signal);
  expect(await secrets()).toMatchObject({ newest: second, previous: undefined, expiresAt: undefined });
});
