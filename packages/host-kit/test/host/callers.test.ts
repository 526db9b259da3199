import type { LaneClass, RefusalReason } from '@svc/auth';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import type { AuditFact } from '@svc/auth/audit';
import { clientAddress, memoryRateLimiter } from '@svc/auth/rate-limit';
import { createHost, type LogRecord } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { describe, expect, onTestFinished, test } from 'vitest';
import { incidents } from '../../src/host/incidents.ts';
import { type Denial, denialRecords } from '../../src/host/record-denials.ts';
import { yieldToLoop } from '../../src/ports/clock.ts';
import { manualClock } from '../streams/manual-clock.ts';

const MINUTE_MS = 60_000;

function denial(reason: RefusalReason, changes: Partial<Denial> = {}): Denial {
  const about = { lane: 'bearer-token', address: 'public', client: 1, code: 'unauthenticated' } as const;
  return { kind: 'refused', ...about, reason, fault: 'caller', ...changes };
}

function recording({ isFull = false } = {}) {
  const clock = manualClock();
  const logged: LogRecord[] = [];
  const facts: AuditFact[] = [];
  const recorder = {
    isFull: () => isFull,
    async recordRequest(fact: AuditFact) {
      facts.push(fact);
    },
  };
  const log = (record: LogRecord) => logged.push(record);
  return { clock, logged, facts, log, records: denialRecords({ log, clock, recorder }) };
}

describe('refused callers', () => {
  test('are recorded once at once, and by their number after a minute', () => {
    const { clock, logged, facts, records } = recording();
    for (let turn = 0; turn < 100; turn++) records.record(denial('unknown'));
    const about = {
      lane: 'bearer-token',
      code: 'unauthenticated',
      reason: 'unknown',
      fault: 'caller',
      address: 'public',
    };
    const line = { level: 'info', event: 'authentication.refused', ...about };
    expect(logged).toEqual([{ ...line, count: 1 }]);
    clock.advance(MINUTE_MS);
    expect(logged).toEqual([
      { ...line, count: 1 },
      { ...line, count: 99 },
    ]);
    expect(facts.map(({ action, actor, target, details }) => ({ action, actor, target, details }))).toEqual([
      { action: 'authentication.refused', actor: 'public', target: null, details: { ...about, count: 1 } },
      { action: 'authentication.refused', actor: 'public', target: null, details: { ...about, count: 99 } },
    ]);
    clock.advance(10 * MINUTE_MS);
    expect(logged, 'nothing more while none is refused').toHaveLength(2);
    records.record(denial('unknown'));
    expect(logged).toHaveLength(3);
  });

  test.each([
    ['the lane', { lane: 'api-key' }],
    ['the code', { code: 'forbidden' }],
    ['the reason', { reason: 'audience' }],
    ['the class of the address', { address: 'private' }],
  ] as const)('of another kind are recorded apart: %s', (_title, changes) => {
    const { logged, records } = recording();
    records.record(denial('unknown'));
    records.record(denial('unknown', changes));
    records.record(denial('unknown', { client: 2 }));
    expect(logged).toHaveLength(2);
  });

  test('make at most two records of a kind in a minute, however many they are', () => {
    const { clock, facts, records } = recording();
    for (let second = 0; second < 600; second++) {
      for (let turn = 0; turn < 100; turn++) records.record(denial('unknown'));
      clock.advance(1000);
    }
    expect(facts.length).toBeLessThanOrEqual(12);
    records.end();
    expect(
      facts.reduce((sum, { details }) => sum + Number(details.count), 0),
      'and none is missing',
    ).toBe(60_000);
  });

  test('are counted in the last record when the host stops, and not recorded after that', () => {
    const { clock, logged, records } = recording();
    for (let turn = 0; turn < 5; turn++) records.record(denial('unknown'));
    records.end();
    expect(logged.map(({ count }) => count)).toEqual([1, 4]);
    records.record(denial('audience'));
    clock.advance(MINUTE_MS);
    expect(logged).toHaveLength(2);
  });

  test('are bounded in memory, also when a lane makes up names', () => {
    const { logged, records } = recording();
    for (let turn = 0; turn < 2000; turn++) records.record(denial('unknown', { lane: `lane-${turn}` as LaneClass }));
    expect(logged).toHaveLength(512);
  });

  test('add nothing to an audit log that takes no facts at the moment', () => {
    const { facts, logged, records } = recording({ isFull: true });
    records.record(denial('unknown'));
    expect([facts.length, logged.length]).toEqual([0, 1]);
  });
});

describe('an incident', () => {
  function watching() {
    const clock = manualClock();
    const logged: LogRecord[] = [];
    const begun: string[] = [];
    const log = (record: LogRecord) => logged.push(record);
    const found = incidents({ log, clock, begun: (incident) => begun.push(incident) });
    return { clock, logged, begun, found, events: () => logged.map(({ level, event }) => `${level} ${event}`) };
  }

  test.each<[RefusalReason, string]>([
    ['issuer', 'issuer-away'],
    ['status-list', 'status-list-away'],
    ['key-store', 'key-store-away'],
    ['directory', 'directory-away'],
    ['replay-store', 'replay-store-away'],
    ['replay-store-full', 'replay-store-full'],
    ['budget', 'budget-exhausted'],
  ])('of the reason %s is logged when it begins and when it ends', (reason, incident) => {
    const { clock, logged, begun, found, events } = watching();
    for (let second = 0; second < 90; second++) {
      found.note(denial(reason));
      clock.advance(1000);
    }
    expect(events()).toEqual([`warn authentication.${incident}`]);
    clock.advance(2 * MINUTE_MS);
    expect(events()).toEqual([`warn authentication.${incident}`, `info authentication.${incident}-ended`]);
    expect(logged[1]).toMatchObject({ refused: 90 });
    found.note(denial(reason));
    expect(begun).toEqual([incident, incident]);
  });

  test.each<RefusalReason>(['absent', 'unknown', 'expired', 'signature', 'audience', 'proof-used'])(
    'is not begun by the reason %s',
    (reason) => {
      const { found, begun } = watching();
      for (let client = 0; client < 64; client++) found.note(denial(reason, { client }));
      expect(begun).toEqual([]);
    },
  );

  test.each<RefusalReason>(['time', 'proof-time'])(
    'of the clock needs several clients with the reason %s',
    (reason) => {
      const { clock, found, begun } = watching();
      for (let turn = 0; turn < 1000; turn++) found.note(denial(reason));
      for (let turn = 0; turn < 1000; turn++) found.note(denial(reason, { client: undefined }));
      for (let client = 0; client < 4; client++) found.note(denial(reason, { client }));
      clock.advance(MINUTE_MS);
      for (let client = 4; client < 8; client++) found.note(denial(reason, { client }));
      expect(begun, 'four in one minute, and four in the next').toEqual([]);
      found.note(denial(reason, { client: 8 }));
      expect(begun).toEqual(['clock-off']);
    },
  );

  test.each([
    [60, true],
    [61, false],
  ])('of the clock is begun by 6 of %i clients: %s', (accepted, isBegun) => {
    const { found, begun } = watching();
    const about = { kind: 'authenticated', address: 'public', client: 1, principalKind: 'user' } as const;
    for (let turn = 0; turn < accepted; turn++) found.note({ ...about, lane: 'bearer-token' });
    for (let turn = 0; turn < 1000; turn++) found.note({ ...about, lane: 'api-key' });
    for (let client = 0; client < 6; client++) found.note(denial('time', { client }));
    expect(begun).toEqual(isBegun ? ['clock-off'] : []);
  });

  test('is no more noticed after the end of the watch', () => {
    const { clock, found, events } = watching();
    found.note(denial('issuer'));
    found.end();
    found.note(denial('key-store'));
    clock.advance(10 * MINUTE_MS);
    expect(events()).toEqual(['warn authentication.issuer-away']);
  });
});

describe('a host', () => {
  const KEY = 'operator-key-of-this-test-0123456789';
  const record = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: 'all', principal: 'p_1' } as const;

  async function host() {
    const store = memoryStore();
    const logged: LogRecord[] = [];
    const clock = manualClock();
    const made = createHost({
      store,
      ports: { clock, log: (record) => logged.push(record) },
      authenticate: [
        apiKeyLane({ keys: memoryKeyStore([{ ...record, scopes: ['runs:read'], mode: 'live' }]), now: clock.now }),
      ],
      http: {
        refusals: {
          limiter: memoryRateLimiter({ limit: 50, windowSeconds: 60, now: clock.monotonic }),
          clientOf: clientAddress(),
        },
      },
      engine: async () => ({}),
      secretKey: new Uint8Array(32),
      authorization: { hasWorkspace: () => true },
      audit: { signer: { publicKey: 'MCowBQYDK2VwAyEA', sign: async () => new Uint8Array(64) } },
    });
    await made.start();
    onTestFinished(() => made.stop(0));
    const call = async (path: string, key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      const response = await made.fetch(new Request(`http://host.test${path}`, { headers }), { address: '192.0.2.1' });
      await response.text();
      return response.status;
    };
    const facts = async () => {
      clock.advance(1000);
      await yieldToLoop();
      const found = [];
      for await (const entry of store.audit.entries(1, 1000)) found.push(entry);
      return found.filter(({ action }) => action === 'authentication.refused').map(({ details }) => details);
    };
    return { call, logged, facts, clock };
  }

  test('shows 100 guessed keys in its log and in its audit log, without the keys', async () => {
    const { call, logged, facts, clock } = await host();
    const statuses = new Map<number, number>();
    for (let turn = 0; turn < 100; turn++) {
      const status = await call('/v1/runs/run_1', `guess-${turn}-${'x'.repeat(32)}`);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 401: 50, 429: 50 });
    clock.advance(MINUTE_MS);
    const about = { lane: 'api-key', fault: 'caller', address: 'public' };
    const unknown = { ...about, code: 'unauthenticated', reason: 'unknown' };
    const limited = { ...about, code: 'rate_limited', reason: 'budget' };
    const expected = [
      { ...unknown, count: 1 },
      { ...limited, count: 1 },
      { ...unknown, count: 49 },
      { ...limited, count: 49 },
    ];
    expect(await facts()).toEqual(expected);
    const lines = logged.filter(({ event }) => event === 'authentication.refused');
    expect(lines).toEqual(expected.map((details) => ({ level: 'info', event: 'authentication.refused', ...details })));
    expect(logged.map(({ event }) => event)).toContain('authentication.budget-exhausted');
    expect(JSON.stringify(logged)).not.toMatch(/guess-|192\.0\.2/);
  });

  test('shows guessed tokens of questions, and no accepted caller', async () => {
    const { call, facts } = await host();
    expect(await call('/v1/runs/run_1', KEY)).toBe(404);
    expect(await call('/v1/interrupts/guessed-token', KEY)).toBe(401);
    expect(await facts()).toEqual([
      { lane: 'other', code: 'unauthenticated', reason: 'unknown', fault: 'caller', address: 'public', count: 1 },
    ]);
  });
});
