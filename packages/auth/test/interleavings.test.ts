import { authenticator, type Lane } from '@svc/auth';
import { type ApiKeyRecord, apiKeyLane, hashApiKey } from '@svc/auth/api-key';
import { bearerLane, localKeys } from '@svc/auth/bearer';
import { clientAddress, memoryRateLimiter } from '@svc/auth/rate-limit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keySetOf, signer } from './tokens.ts';

const START = Date.UTC(2026, 5, 1);
const KEYS = ['a', 'b', 'c'].map((name) => `interleaved-key-${name}-0123456789abcdef`);
const HASHES = KEYS.map((key) => hashApiKey(key));
const grants = { tenant: 'acme', workspaces: 'all', scopes: [], mode: 'live' } as const;

/** One step: a caller presents a key, an operator changes one, or the clock is set. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('verify' as const), key: fc.nat(2), waits: fc.nat(3) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('revoke' as const),
      key: fc.nat(2),
      inMs: fc.integer({ min: -50, max: 50 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restore' as const), key: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('expire' as const),
      key: fc.nat(2),
      inMs: fc.integer({ min: -50, max: 50 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('clock' as const), byMs: fc.integer({ min: -100, max: 100 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('turn' as const) }) },
);

interface World {
  time: number;
  readonly records: ApiKeyRecord[];
}

/** The verdict on a record at a time of the clock. */
function verdictOf({ revokedAt, expiresAt }: ApiKeyRecord, time: number): string {
  if (revokedAt !== undefined && time >= revokedAt) return 'key_revoked';
  return expiresAt !== undefined && time >= expiresAt ? 'key_expired' : 'authenticated';
}

/** The record of each key and the clock, at one moment. */
interface Moment {
  readonly time: number;
  readonly records: readonly ApiKeyRecord[];
}

/** The verdicts of a host that reads the record at one of the moments, and the clock then or later. */
function possible(moments: readonly Moment[], key: number): readonly string[] {
  return moments.flatMap(({ records }, index) =>
    moments.slice(index).flatMap(({ time }) => {
      const record = records[key];
      return record === undefined ? [] : [verdictOf(record, time)];
    }),
  );
}

describe('revocations, verifications and steps of the clock', () => {
  test('in 10 000 random interleavings, each verdict follows from the record and the clock between request and answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
        const records = HASHES.map((hash, index) => ({ id: `key_${index}`, hash, principal: `p_${index}`, ...grants }));
        const world: World = { time: START, records };
        const history: Moment[] = [];
        const note = () => history.push({ time: world.time, records: [...world.records] });
        const wrong: string[] = [];
        note();
        const pending: Promise<void>[] = [];
        const held: (() => void)[] = [];
        let waits = 0;
        const lane = apiKeyLane({
          keys: {
            async candidates({ hash }) {
              // The store answers with the record as it is when it answers, a few turns later.
              for (let left = waits; left > 0; left--) await new Promise<void>((resolve) => held.push(resolve));
              return world.records.filter((record) => record.hash === hash);
            },
          },
          now: () => world.time,
        });
        const auth = authenticator({ lanes: [lane] });
        for (const one of steps) {
          if (one.kind === 'verify') {
            const from = history.length - 1;
            waits = one.waits;
            const asked = auth.authenticate({ headers: { authorization: `Bearer ${KEYS[one.key]}` } });
            pending.push(
              asked.then((outcome) => {
                const verdict = outcome.kind === 'refused' ? outcome.error.code : outcome.kind;
                const expected = possible(history.slice(from), one.key);
                if (!expected.includes(verdict)) wrong.push(`${verdict} instead of ${expected.join(' or ')}`);
                if (outcome.kind === 'authenticated' && outcome.principal.id !== `p_${one.key}`) wrong.push('another');
              }),
            );
          } else if (one.kind === 'clock') world.time += one.byMs;
          else if (one.kind === 'turn') {
            held.shift()?.();
            await Promise.resolve();
          } else {
            const record = world.records[one.key];
            if (record === undefined) continue;
            const { revokedAt: _revoked, expiresAt: _expires, ...valid } = record;
            const change =
              one.kind === 'restore'
                ? {}
                : one.kind === 'revoke'
                  ? { revokedAt: world.time + one.inMs }
                  : { expiresAt: world.time + one.inMs };
            world.records[one.key] = one.kind === 'restore' ? valid : { ...record, ...change };
          }
          note();
        }
        while (held.length > 0) {
          held.shift()?.();
          await new Promise<void>((resolve) => setImmediate(resolve));
        }
        await Promise.all(pending);
        expect(wrong).toEqual([]);
        // After the answers no revoked key passes again, and a valid one does.
        for (const [key] of KEYS.entries()) {
          waits = 0;
          const outcome = await auth.authenticate({ headers: { authorization: `Bearer ${KEYS[key]}` } });
          const verdict = outcome.kind === 'refused' ? outcome.error.code : outcome.kind;
          expect([verdict]).toEqual(possible([{ time: world.time, records: world.records }], key));
        }
      }),
      { numRuns: 10_000 },
    );
  });
});

describe('attackers and token callers behind one address', () => {
  test('in ten minutes of the clock, no valid caller is refused', async () => {
    const idp = await signer('ES256');
    const forger = await signer('ES256');
    let time = START;
    const now = () => time;
    const seconds = START / 1000;
    const claims = { iss: 'https://idp.example.com', aud: 'svc', iat: seconds, exp: seconds + 900 };
    const mapped = { ...claims, svc_tenant: 'acme', svc_workspaces: ['*'] };
    const tokens = await Promise.all(
      Array.from({ length: 8 }, (_, index) => idp.sign({ ...mapped, sub: `u_${index}` })),
    );
    const forged = await Promise.all(
      Array.from({ length: 8 }, (_, index) => forger.sign({ ...claims, sub: `u_${index}` })),
    );
    const keys = localKeys(keySetOf(idp));
    let verified = 0;
    const counting = {
      find: (wanted: Parameters<typeof keys.find>[0]) => {
        verified += 1;
        return keys.find(wanted);
      },
    };
    const lanes: Lane[] = [
      bearerLane({ issuers: [{ issuer: claims.iss, audience: 'svc', profile: 'user', keys: counting }], now }),
      apiKeyLane({
        keys: {
          candidates: ({ hash }) => (hash === HASHES[0] ? [{ id: 'k', hash, principal: 'p_1', ...grants }] : []),
        },
        now,
      }),
    ];
    const limiter = memoryRateLimiter({ limit: 60, windowSeconds: 60, now });
    const auth = authenticator({
      lanes,
      refusals: { limiter, clientOf: clientAddress(), verifications: { perSecond: 1, now } },
    });
    const call = async (token: string | undefined) => {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const outcome = await auth.authenticate({ headers, peer: { address: '192.0.2.1' } });
      return outcome.kind === 'refused' ? outcome.error.code : outcome.kind;
    };

    const attacks = new Map<string, number>();
    const refusedCallers: string[] = [];
    // The callers were there before the attackers. Each second has one call of each, beside 30 attacks.
    for (const token of tokens) expect(await call(token)).toBe('authenticated');
    const before = verified;
    for (let second = 0; second < 600; second++) {
      time += 1000;
      for (let attack = 0; attack < 10; attack++) {
        for (const token of [undefined, `guess-${second}-${attack}-0123456789abcdef0123`, forged[attack % 8]]) {
          const code = await call(token);
          attacks.set(code, (attacks.get(code) ?? 0) + 1);
        }
      }
      for (const token of [tokens[second % 8], KEYS[0]]) {
        const code = await call(token);
        if (code !== 'authenticated') refusedCallers.push(`${second} s: ${code}`);
      }
    }
    expect(refusedCallers).toEqual([]);
    expect([...attacks.keys()].sort()).toEqual(['rate_limited', 'unauthenticated']);
    // 60 refusals a minute of the address over eleven windows, two verifications of new credentials a second, and the 600
    // valid calls.
    expect(verified - before).toBeLessThanOrEqual(60 * 11 + 2 * 600 + 600);
  });
});
