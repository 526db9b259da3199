import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CredentialQuota } from '../quota-counter.ts';
import { drawn, type QuotaCount, type QuotaDraw } from './quota.ts';
import { type QuotaLedger, quotaLedger } from './quota-ledger.ts';

const HOUR_MS = 3_600_000;
const NOON = Date.UTC(2026, 5, 1, 12);
const quotaOf = (limit: number, fields: Partial<CredentialQuota> = {}): CredentialQuota => ({
  ...{ limit, period: 'day', account: 'key_1' },
  ...fields,
});

/** Counts in memory, by the rule of every store, and clocks that a test sets. */
function world() {
  const counts = new Map<string, QuotaCount>();
  const state = { now: NOON, monotonic: 0, fails: false, calls: 0 };
  const draw = async (draws: readonly QuotaDraw[]) => {
    state.calls += 1;
    if (state.fails) throw new Error('The disk is full.');
    return draws.map((each) => {
      const grant = drawn(counts.get(each.account), each);
      counts.set(each.account, grant.count);
      return grant;
    });
  };
  const host = (onFailure?: (cause: unknown) => void): QuotaLedger =>
    quotaLedger({
      ...{ draw, now: () => state.now, monotonic: () => state.monotonic, intervalMs: 2 ** 31 - 1 },
      ...(onFailure !== undefined && { onFailure }),
    });
  return { counts, state, host };
}

async function admitted(ledger: QuotaLedger, quota: CredentialQuota, requests: number): Promise<number> {
  let count = 0;
  for (let request = 0; request < requests; request += 1) {
    if ((await ledger.consume(quota)) === undefined) count += 1;
  }
  return count;
}

describe('a ledger of quotas', () => {
  test('answers each request while the store fails and the observer throws, and draws again afterwards', async () => {
    const { state, host } = world();
    const watched = host(() => {
      throw new Error('an observer');
    });
    state.fails = true;
    const answers = await Promise.all([watched.consume(quotaOf(5)), watched.consume(quotaOf(5))]);
    expect(answers.map((answer) => answer?.error.code)).toEqual(['service_unavailable', 'service_unavailable']);
    state.fails = false;
    expect(await admitted(watched, quotaOf(5), 6)).toBe(5);
    await watched.close();
  });

  test('admits the limit exactly, and tells when the quota renews', async () => {
    const { state, host } = world();
    const ledger = host();
    expect(await admitted(ledger, quotaOf(500), 600)).toBe(500);
    const refusal = await ledger.consume(quotaOf(500));
    expect(refusal?.error).toMatchObject({
      code: 'rate_limited',
      message: 'The quota of 500 requests in a day is used up. It renews at 2026-06-02T00:00:00.000Z: try again then.',
      details: { window: 86_400, limit: 500, current: 500, retryAfterSeconds: 43_200 },
    });
    expect(refusal?.headers).toEqual({
      ratelimit: '"quota";r=0;t=43200',
      'ratelimit-policy': '"quota";q=500;w=86400',
      'retry-after': '43200',
    });
    state.now += 12 * HOUR_MS;
    expect(await admitted(ledger, quotaOf(500), 600)).toBe(500);
    await ledger.close();
  });

  test('asks the store seldom, and for many requests of one turn at once', async () => {
    const { state, host } = world();
    const ledger = host();
    const some = await Promise.all(Array.from({ length: 50 }, () => ledger.consume(quotaOf(1_000_000))));
    expect([some.filter((refusal) => refusal === undefined).length, state.calls]).toEqual([50, 1]);
    expect(await admitted(ledger, quotaOf(1_000_000), 20_000)).toBe(20_000);
    expect(state.calls).toBeLessThan(50);
    await ledger.close();
  });

  test('hosts together admit no more than the limit, and an orderly stop gives every reserve back', async () => {
    const { counts, host } = world();
    const hosts = [host(), host(), host()];
    let sum = 0;
    for (const ledger of hosts) sum += await admitted(ledger, quotaOf(1000), 100);
    for (const ledger of hosts) await ledger.close();
    expect(counts.get('key_1 day')).toMatchObject({ taken: 300, used: 300 });
    const next = host();
    sum += await admitted(next, quotaOf(1000), 2000);
    expect(sum).toBe(1000);
    await next.close();
  });

  test('a host that is killed takes at most 4 % of what was left with it', async () => {
    const { host } = world();
    await admitted(host(), quotaOf(1000), 100);
    const next = host();
    const rest = await admitted(next, quotaOf(1000), 2000);
    expect(rest).toBeLessThanOrEqual(900);
    expect(rest).toBeGreaterThanOrEqual(900 - 40);
    await next.close();
  });

  test('an unused reserve is given back after two flushes, and another host gets it', async () => {
    const { counts, state, host } = world();
    const [one, other] = [host(), host()];
    await admitted(one, quotaOf(1000), 100);
    const used = await admitted(other, quotaOf(1000), 1000);
    expect(used).toBeLessThan(900);
    await one.flush();
    expect(counts.get('key_1 day')).toMatchObject({ taken: 1000 });
    await one.flush();
    // The refused host asks again after a second.
    state.monotonic += 1000;
    expect(used + (await admitted(other, quotaOf(1000), 1000))).toBe(900);
    await Promise.all([one.close(), other.close()]);
    expect(counts.get('key_1 day')).toMatchObject({ taken: 1000, used: 1000 });
  });

  test('a used-up quota costs one question in a second', async () => {
    const { state, host } = world();
    const ledger = host();
    await admitted(ledger, quotaOf(1), 1);
    await admitted(ledger, quotaOf(1), 100);
    expect(state.calls).toBe(2);
    state.monotonic += 1000;
    await admitted(ledger, quotaOf(1), 100);
    expect(state.calls).toBe(3);
    await ledger.close();
  });

  test('keys of one account with days and with months have a count each, so that neither renews the other', async () => {
    const { host } = world();
    const [one, other] = [host(), host()];
    const monthly = quotaOf(10, { period: 'month' });
    let [days, months] = [0, 0];
    for (let round = 0; round < 10; round += 1) {
      days += await admitted(one, quotaOf(5), 2);
      months += await admitted(other, monthly, 2);
    }
    expect([days, months]).toEqual([5, 10]);
    await Promise.all([one.close(), other.close()]);
  });

  test('keys of one account share its count, each up to its own limit', async () => {
    const { host } = world();
    const ledger = host();
    expect(await admitted(ledger, quotaOf(20), 15)).toBe(15);
    expect(await admitted(ledger, quotaOf(10), 5)).toBe(0);
    expect(await admitted(ledger, quotaOf(20), 15)).toBe(5);
    expect(await admitted(ledger, quotaOf(10, { account: 'key_2' }), 15)).toBe(10);
    await ledger.close();
  });

  test('a store that fails refuses with 503, and the key goes on when it is back', async () => {
    const { state, host } = world();
    const ledger = host();
    state.fails = true;
    const refusal = await ledger.consume(quotaOf(5));
    expect(refusal?.error).toMatchObject({ code: 'service_unavailable', fault: 'host', reason: 'key-store' });
    state.fails = false;
    expect(await admitted(ledger, quotaOf(5), 9)).toBe(5);
    await ledger.close();
    expect((await ledger.consume(quotaOf(5)))?.error.code).toBe('service_unavailable');
  });

  test('more waiting requests than are allowed are refused', async () => {
    let resolve = (): void => {};
    const promise = new Promise<void>((settle) => {
      resolve = settle;
    });
    const draw = async (draws: readonly QuotaDraw[]) => {
      await promise;
      return draws.map((each) => drawn(undefined, each));
    };
    const ledger = quotaLedger({ draw, now: () => NOON, maxWaiting: 1 });
    const first = ledger.consume(quotaOf(5));
    expect((await ledger.consume(quotaOf(5)))?.error.code).toBe('service_unavailable');
    resolve();
    expect(await first).toBeUndefined();
    await ledger.close();
  });

  test('in every history of hosts, stops, kills and failures, a day has at most its limit', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('use' as const), host: fc.nat(2), requests: fc.nat(40) }),
      fc.record({ kind: fc.constantFrom('flush', 'stop', 'kill', 'fail'), host: fc.nat(2), requests: fc.constant(0) }),
      fc.record({
        kind: fc.constant('wait' as const),
        host: fc.constant(0),
        requests: fc.integer({ min: 1, max: 30 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 60 }), async (steps, limit) => {
        const { state, host } = world();
        const hosts = [host(), host(), host()];
        const byDay = new Map<number, number>();
        for (const { kind, host: index, requests } of steps) {
          const ledger = hosts[index] ?? host();
          state.fails = kind === 'fail' ? !state.fails : state.fails;
          if (kind === 'flush') await ledger.flush();
          if (kind === 'stop') await ledger.close();
          if (kind === 'stop' || kind === 'kill') hosts[index] = host();
          if (kind === 'wait') [state.now, state.monotonic] = [state.now + requests * HOUR_MS, state.monotonic + 1000];
          const day = Math.floor(state.now / (24 * HOUR_MS));
          if (kind === 'use') {
            byDay.set(day, (byDay.get(day) ?? 0) + (await admitted(ledger, quotaOf(limit), requests)));
          }
        }
        expect(Math.max(0, ...byDay.values())).toBeLessThanOrEqual(limit);
      }),
    );
  });

  test.each([
    [{ draw: 1 }, 'quotaLedger: draw must be a function.'],
    [{ intervalMs: 0 }, 'quotaLedger: intervalMs must be at least 1.'],
    [{ maxWaiting: 0 }, 'quotaLedger: maxWaiting must be a whole number, at least 1.'],
    [{ interval: 1 }, 'quotaLedger: unknown option interval. Did you mean intervalMs?'],
  ])('%j is refused', (options, message) => {
    const wrong: object = { draw: async () => [], now: () => NOON, ...options };
    expect(() => quotaLedger(wrong as Parameters<typeof quotaLedger>[0])).toThrow(message);
  });
});
