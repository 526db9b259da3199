import { z } from 'zod';
import { area, type RunnableCheck } from '../check.ts';
import { anObject, body, fits, refused, same } from '../expect.ts';
import { EXTERNAL_EVENT, nodeOf } from '../fixtures.ts';
import { fixture, scopes } from '../needs.ts';
import { eventOf, logOf, untilStatus } from '../steps/runs.ts';
import { waitingFixture } from '../steps/waiting-fixture.ts';

const ARRIVED = { conformance: 'arrived' };
const { waiting, answer: deliver } = waitingFixture(EXTERNAL_EVENT, {
  status: 'waiting-external',
  resumeValue: ARRIVED,
});

/** External events: a run waits at its node `wait-for-external` for another system. */
export const externalEvents: readonly RunnableCheck[] = area(
  'external-events',
  { needs: [scopes('runs:create', 'runs:read', 'approvals:respond'), fixture(EXTERNAL_EVENT)] },
  [
    {
      id: 'waits',
      name: 'A run that waits for an external event has the status `waiting-external`.',
      rule: ['States and transitions', 'interrupts.external-event.waits'],
      async run(world) {
        const run = await waiting(world);
        same(fits(run, anObject).currentNodeId, nodeOf(world.target, EXTERNAL_EVENT), 'currentNodeId');
      },
    },
    {
      id: 'requested',
      name: '`interrupt.requested` has the kind, the type of the event and its correlation.',
      rule: ['States and transitions', 'interrupts.external-event.waits'],
      async run(world) {
        const { runId } = await waiting(world);
        fits(eventOf(await logOf(world, runId), 'interrupt.requested').payload, REQUESTED);
      },
    },
    {
      id: 'delivered',
      name: 'Delivering an external event is answered 200, the log has the event, and the run completes.',
      rule: ['Endpoints', 'interrupts.external-event.delivered'],
      async run(world) {
        const { runId } = await waiting(world);
        body(await deliver(world, runId), 200, anObject);
        await untilStatus(world, runId, ['completed']);
        const { payload } = eventOf(await logOf(world, runId), 'interrupt.resolved');
        same(fits(payload, anObject).resumeValue, ARRIVED, 'resumeValue in interrupt.resolved');
      },
    },
    {
      id: 'delivered-once-409',
      name: 'A second delivery of an external event is answered 409 `interrupt_already_resolved`.',
      rule: ['Endpoints', 'interrupts.external-event.delivered'],
      async run(world) {
        const { runId } = await waiting(world);
        body(await deliver(world, runId), 200, anObject);
        refused(await deliver(world, runId), 409, 'interrupt_already_resolved');
        await untilStatus(world, runId, ['completed']);
      },
    },
  ],
);

const REQUESTED = z.looseObject({
  kind: z.literal('external-event'),
  key: z.string().min(1).max(256),
  data: z.looseObject({ eventType: z.string().min(1), correlation: anObject }),
});
