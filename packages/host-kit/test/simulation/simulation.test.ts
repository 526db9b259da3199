import { env } from 'node:process';
import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { simulate } from './world.ts';

/** `SVC_SEED=…` replays one world; `SVC_SEEDS=…` sets the number of worlds, 100 by default and 2000 in CI. */
const ONE = env.SVC_SEED === undefined ? undefined : Number(env.SVC_SEED);
const COUNT = Number(env.SVC_SEEDS ?? 100);
const SEEDS = ONE === undefined ? Array.from({ length: COUNT }, (_, index) => index + 1) : [ONE];

describe(
  covers(
    'webhooks.durable.at-least-once',
    'webhooks.best-effort.single-attempt',
    'webhooks.delivery.in-flight-cap',
    'webhooks.delivery.signed-per-attempt',
    'webhooks.signature.standard-id-stable',
    'webhooks.signature.standard-rotation',
  ),
  () => {
    test('delivers or dead-letters every acknowledged event in every world, without a violation', async () => {
      const total = {
        rotations: 0,
        clockSteps: 0,
        attempts: 0,
        delivered: 0,
        crashes: 0,
        claimsLost: 0,
        deadLetters: 0,
        virtualMs: 0,
      };
      for (const seed of SEEDS) {
        const outcome = await simulate(seed);
        expect({ seed, violations: outcome.violations }).toEqual({ seed, violations: [] });
        for (const name of [
          'rotations',
          'clockSteps',
          'attempts',
          'delivered',
          'crashes',
          'claimsLost',
          'deadLetters',
          'virtualMs',
        ] as const) {
          total[name] += outcome[name];
        }
      }
      if (ONE !== undefined) return;
      // Worlds without crashes, lost claims and dead letters would prove nothing.
      expect(total.crashes).toBeGreaterThan(COUNT / 2);
      expect(total.rotations).toBeGreaterThan(COUNT / 4);
      expect(total.clockSteps).toBeGreaterThan(COUNT / 2);
      expect(total.claimsLost).toBeGreaterThan(COUNT / 100);
      expect(total.deadLetters).toBeGreaterThan(COUNT / 2);
      expect(total.delivered).toBeGreaterThan(COUNT * 10);
    }, 600_000);

    test('makes the same world from the same seed', async () => {
      for (const seed of [3, 17, 99]) expect(await simulate(seed)).toEqual(await simulate(seed));
    });
  },
);
