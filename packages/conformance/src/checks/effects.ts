import { z } from 'zod';
import { area, type RunnableCheck } from '../check.ts';
import { body, holds, refused, same } from '../expect.ts';
import { EFFECT, NOOP } from '../fixtures.ts';
import { capability, fixture, key, scopes } from '../needs.ts';
import { resourceId, segment, time, unknownId } from '../shapes/id.ts';
import { endedRun, startRun } from '../steps/runs.ts';
import type { World } from '../world.ts';

const RULE = ['Endpoints: GET /runs/{runId}/effects', 'operations.effects.read'] as const;

/** The ledger of the effects of a run. */
export const effects: readonly RunnableCheck[] = area(
  'effects',
  { needs: [capability('idempotency'), scopes('runs:create', 'runs:read')] },
  [
    {
      id: 'ledger',
      name: 'A host that advertises `idempotency` serves the ledger of a run: its id, and one entry for each effect.',
      rule: RULE,
      majors: [2],
      needs: [fixture(NOOP)],
      async run(world) {
        const { runId } = await endedRun(world, NOOP);
        await ledgerOf(world, runId);
      },
    },
    {
      id: 'entry',
      name: 'A completed effect is in the ledger of its run with its keying, and without credentials.',
      rule: RULE,
      majors: [2],
      needs: [fixture(EFFECT)],
      async run(world) {
        const { runId } = await endedRun(world, EFFECT);
        const [entry, ...others] = await ledgerOf(world, runId);
        same([entry?.state, others.length], ['completed', 0], 'the state of the effect and the number of others');
      },
    },
    {
      id: 'unknown-404',
      name: 'The ledger of a run that does not exist is answered 404.',
      rule: RULE,
      majors: [2],
      async run({ api, major, target }) {
        refused(await api.get(`/runs/${segment(unknownId(major, target.tenant))}/effects`), 404, 'not_found');
      },
    },
    {
      id: 'workspace-apart',
      name: 'The ledger of a run is answered 403 `run_forbidden` to a key of another workspace.',
      rule: ['Authorization rules', 'auth.tenancy.workspace-apart'],
      majors: [2],
      needs: [fixture(NOOP), key('otherWorkspace')],
      async run(world) {
        const { runId } = await startRun(world, NOOP);
        refused(await world.as('otherWorkspace').get(`/runs/${segment(runId)}/effects`), 403, 'run_forbidden');
      },
    },
  ],
);

async function ledgerOf({ api }: World, runId: string): Promise<z.infer<typeof LEDGER>['effects']> {
  const answer = await api.get(`/runs/${segment(runId)}/effects`);
  const ledger = body(answer, 200, LEDGER);
  same(ledger.runId, runId, 'runId', answer);
  const ids = ledger.effects.map(({ effectId }) => effectId);
  holds(new Set(ids).size === ids.length, 'one entry for each effect', ids, answer);
  for (const { providerKey = '' } of ledger.effects) {
    holds(
      !/secret|bearer |sk-[a-z0-9]{8,}/i.test(providerKey),
      'a providerKey without a credential',
      providerKey,
      answer,
    );
  }
  return ledger.effects;
}

const LEDGER = z.strictObject({
  runId: resourceId[2],
  effects: z.array(
    z.strictObject({
      effectId: resourceId[2],
      nodeId: z.string().min(1),
      attempt: z.int().min(0),
      keying: z.enum(['business-identity', 'activity-recipe']),
      state: z.enum(['claimed', 'completed', 'released', 'escaped']),
      at: time,
      invocationId: z.string().min(1).optional(),
      providerKey: z.string().min(1).optional(),
    }),
  ),
});
