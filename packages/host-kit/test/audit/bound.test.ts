import { generateKeyPairSync } from 'node:crypto';
import { ed25519Signer } from '@svc/auth/audit';
import type { LogRecord, Store, WorkflowEngine } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { expect, test } from 'vitest';
import { auditRecorder } from '../../src/audit/recorder.ts';
import { systemRandom } from '../../src/ports/random.ts';
import { recordedHost } from '../host/recorded-host.ts';
import { virtualClock } from '../simulation/virtual-clock.ts';

const ENGINE: WorkflowEngine = {
  execute: async () => ({ status: 'completed', outputs: {} }),
};
const MOST = 5000;
const FACT = { action: 'request', actor: 'p_1', target: null, occurredAt: '2026-01-01T00:00:00.000Z', details: {} };

async function signer() {
  const { privateKey } = generateKeyPairSync('ed25519');
  return ed25519Signer(privateKey.export({ type: 'pkcs8', format: 'pem' }));
}

/** A store whose audit log takes facts only when the test lets it. */
function gated() {
  const inner = memoryStore();
  const gate = { isOpen: true, written: 0, tries: 0 };
  const store: Store = {
    ...inner,
    audit: {
      ...inner.audit,
      async append(facts, transaction) {
        gate.tries += 1;
        if (!gate.isOpen) throw new Error('The disk is full.');
        await inner.audit.append(facts, transaction);
        gate.written += facts.length;
      },
    },
  };
  return { store, gate };
}

test('5000 facts wait at most: further requests are refused, and taken again when the store takes facts', async () => {
  const { store, gate } = gated();
  const world = virtualClock(0);
  const logged: LogRecord[] = [];
  const recorder = auditRecorder({
    ...{ store, clock: world.forHost(), random: systemRandom, log: (record) => logged.push(record) },
    ...{
      signer: await signer(),
      publicKeys: [],
      sink: undefined,
      witness: undefined,
      origin: 'svc.example/audit',
      intervalEntries: 100_000,
      intervalSeconds: 300,
    },
    observer: { sealed: () => {}, failed: () => {} },
  });
  gate.isOpen = false;
  for (let fact = 0; fact < MOST; fact++) {
    expect(recorder.admit()).toBeUndefined();
    void recorder.recordRequest(FACT);
  }
  await world.run(500);
  expect(recorder.isFull()).toBe(true);
  const tries = gate.tries;
  for (let request = 0; request < 1000; request++)
    await expect(recorder.admit()).rejects.toMatchObject({
      code: 'service_unavailable',
      headers: { 'retry-after': '5' },
    });
  // A refused request costs no transaction; the timer tries once a second.
  expect(gate.tries).toBe(tries);
  gate.isOpen = true;
  world.at(2000, () => {});
  await world.run(2000);
  expect([gate.written, recorder.admit(), recorder.isFull()]).toEqual([MOST, undefined, false]);
  expect(logged.every(({ waiting }) => typeof waiting !== 'number' || waiting <= MOST)).toBe(true);
});

test('a host refuses requests with 503 before it executes them, and goes on when the audit log does', async () => {
  const { store, gate } = gated();
  const { call, stop, logged } = await recordedHost({ store, engine: ENGINE, audit: { signer: await signer() } });
  gate.isOpen = false;
  const statuses = new Map<number, number>();
  for (let batch = 0; batch < 60; batch++) {
    const answers = await Promise.all(Array.from({ length: 100 }, () => call('/v1/runs/none')));
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect([...statuses.keys()].sort()).toEqual([404, 503]);
  // A batch of requests that were under way together may exceed the bound.
  expect(statuses.get(404)).toBeGreaterThanOrEqual(MOST);
  expect(statuses.get(404)).toBeLessThan(MOST + 100);
  const refused = await call('/v1/runs', { workflowId: 'any' });
  expect([refused.status, refused.headers.get('retry-after'), refused.body.error]).toEqual([
    503,
    '5',
    'service_unavailable',
  ]);
  expect(logged.filter(({ event }) => event === 'audit.write-failed').length).toBeLessThan(30);
  gate.isOpen = true;
  for (;;) {
    if ((await call('/v1/runs/none')).status === 404) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await stop();
  expect(gate.written).toBeGreaterThan(MOST);
});
