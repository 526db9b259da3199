import { env } from 'node:process';
import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { soak } from './soak.ts';

/** `SVC_SOAK_SEED=…` sets another one, as `.ci/run` does; `npm run soak` draws one. */
const seed = Number(env.SVC_SOAK_SEED ?? 1);

/** Short enough to run with every change; `npm run soak` takes any duration. */
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
      '$store: every event of an acknowledged run arrives or is a dead letter, while processes are killed',
      async (short) => {
        const { findings, figures, folder } = await soak({ ...short, seed, say: () => {} });
        const again = `npm run soak -- --store ${short.store} --minutes ${short.seconds / 60} --seed ${seed}`;
        expect(findings, `Logs are in ${folder}. To repeat: ${again}`).toEqual([]);
        // A soak without runs or disturbances would pass as well.
        expect(figures.runs).toBeGreaterThan(5);
        expect(Object.keys(figures.disturbances).length).toBeGreaterThan(2);
      },
      300_000,
    );
  },
);
