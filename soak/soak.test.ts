import { env } from 'node:process';
import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { soak } from './soak.ts';

/** Another one each time; `SVC_SOAK_SEED=…` repeats one. */
const seed = Number(env.SVC_SOAK_SEED ?? Date.now() % 1_000_000);

/** As long as every change can wait for. `npm run soak` goes on for as long as it is told to. */
const SHORT = [
  { store: 'sqlite', seconds: 8 },
  { store: 'postgres', seconds: 10 },
] as const;

describe.concurrent(
  covers(
    'webhooks.durable.at-least-once',
    'webhooks.best-effort.single-attempt',
    'webhooks.delivery.tenant-scope',
    'webhooks.delivery.none-after-unregister',
  ),
  () => {
    test.each(SHORT)(
      '$store: whatever is killed, what was acknowledged arrives or is a dead letter',
      async (short) => {
        const { findings, figures, folder } = await soak({ ...short, seed, say: () => {} });
        const again = `npm run soak -- --store ${short.store} --minutes ${short.seconds / 60} --seed ${seed}`;
        expect(findings, `${folder} has the logs; again: ${again}`).toEqual([]);
        // A soak in which nothing happened would prove nothing.
        expect(figures.runs).toBeGreaterThan(5);
        expect(Object.keys(figures.disturbances).length).toBeGreaterThan(2);
      },
      300_000,
    );
  },
);
