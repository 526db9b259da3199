import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AttemptRecord } from '../../src/ports/attempts.ts';
import { LATENCY_BOUNDS_MS } from '../../src/ports/delivery-series.ts';
import { type CountedEnd, deliveryMinutes } from '../../src/webhooks/delivery-minutes.ts';

const DEAD = { kind: 'dead', at: 1, expiresAt: 2, attempts: 1, lastStatus: 500 } as const;

test('attempts are counted by their outcome, and deliveries by their settlement', () => {
  const [minute, ...others] = deliveryMinutes([
    end({ outcome: 'delivered', durationMs: 10 }, { kind: 'delivered' }),
    end({ outcome: 'failed', durationMs: 10.001 }, { kind: 'retry', dueAt: 9, attempts: 1, lastStatus: 500 }),
    end({ outcome: 'denied', durationMs: 0 }, DEAD),
    // Its claim was lost, so another host settles it.
    end({ outcome: 'failed', durationMs: 60_000 }, undefined),
    end({ outcome: 'skipped', durationMs: 0 }, DEAD),
    end({ outcome: 'skipped', durationMs: 0 }, { kind: 'dropped' }),
  ]);
  expect(others).toEqual([]);
  expect(minute).toEqual({
    webhookId: 'whk_1',
    minute: 60_000,
    ...{ delivered: 1, failed: 3, deadLettered: 2, skipped: 2, durationMs: 60_020.001 },
    latency: [2, 1, 0, 0, 0, 0, 0, 1],
  });
});

test('a denied URL and an unavailable receiver count alike, so that the network cannot be mapped', () => {
  const [denied] = deliveryMinutes([end({ outcome: 'denied', durationMs: 2 }, DEAD)]);
  const [failed] = deliveryMinutes([end({ outcome: 'failed', durationMs: 2, reason: 'connect' }, DEAD)]);
  expect(denied).toEqual(failed);
});

const anyEnd = fc
  .record({
    webhookId: fc.constantFrom('whk_1', 'whk_2', 'whk_3'),
    at: fc.nat(600_000),
    durationMs: fc.double({ min: 0, max: 20_000, noNaN: true }),
    outcome: fc.constantFrom('delivered', 'failed', 'denied', 'skipped'),
    isDead: fc.boolean(),
  })
  .map(({ isDead, ...attempt }) => end(attempt, isDead ? DEAD : undefined));

test('every attempt is counted once, in the minute of its end, and minutes have one order', () => {
  fc.assert(
    fc.property(fc.array(anyEnd), (ends) => {
      const minutes = deliveryMinutes(ends);
      const keys = minutes.map(({ webhookId, minute }) => `${webhookId} ${String(minute).padStart(12, '0')}`);
      expect(keys).toEqual([...new Set(keys)].sort());
      for (const { webhookId, minute, delivered, failed, skipped, deadLettered, latency } of minutes) {
        const own = ends.filter(
          ({ attempt: { at, webhookId: of } }) => of === webhookId && at >= minute && at < minute + 60_000,
        );
        expect(minute % 60_000).toBe(0);
        expect(delivered + failed + skipped).toBe(own.length);
        expect(latency.reduce((sum, count) => sum + count, 0)).toBe(delivered + failed);
        expect(latency).toHaveLength(LATENCY_BOUNDS_MS.length + 1);
        expect(deadLettered).toBe(own.filter(({ settlement }) => settlement?.kind === 'dead').length);
      }
      expect(minutes.reduce((sum, { delivered, failed, skipped }) => sum + delivered + failed + skipped, 0)).toBe(
        ends.length,
      );
    }),
  );
});

function end(fields: Partial<AttemptRecord>, settlement: CountedEnd['settlement']): CountedEnd {
  const place = { deliveryId: 'dlv_1', webhookId: 'whk_1', runId: 'run_1', sequence: 0, eventType: 'run.completed' };
  const outcome = { outcome: 'delivered', durationMs: 1, status: undefined, reason: undefined } as const;
  return { attempt: { ...place, attempt: 1, at: 61_000, ...outcome, ...fields }, settlement };
}
