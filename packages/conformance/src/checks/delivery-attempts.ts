import { z } from 'zod';
import { area, type RunnableCheck } from '../check.ts';
import { body, holds, same, status } from '../expect.ts';
import { CANCELLABLE, NOOP } from '../fixtures.ts';
import { capability, fixture, deliveries as received, scopes, workspace } from '../needs.ts';
import { resourceId, segment } from '../shapes/id.ts';
import { TERMINAL } from '../shapes/run.ts';
import { fixtureLogs } from '../steps/fixture-logs.ts';
import { endedRun, startRun, untilStatus } from '../steps/runs.ts';
import { deliverySchema, publishedSchemas } from '../steps/schemas.ts';
import {
  arrivalOf,
  arrived,
  COMPLETED,
  deliveredIn,
  isAbout,
  QUIET_MS,
  runsIn,
  settled,
  subscribe,
} from '../steps/webhooks.ts';

const RULES = 'Webhook delivery rules (both majors)';
const BODY = 'Webhook delivery body';
const EVENTS = 'Events: Webhook delivery of events';

/** Attempts of deliveries, deliveries of forks and of cancelled runs, and the published schema of deliveries. */
export const deliveryAttempts: readonly RunnableCheck[] = area(
  'deliveries',
  { needs: [scopes('webhooks:manage', 'runs:create', 'runs:read'), workspace, fixture(NOOP), received] },
  [
    {
      id: 'redirect-not-followed',
      name: 'A redirect of the receiver is not followed.',
      rule: [RULES, 'webhooks.delivery.no-redirects'],
      async run(world) {
        const elsewhere = world.inbox(200);
        const answers = [301, 302, 303, 307, 308].map((code) => ({
          status: code,
          headers: { location: elsewhere.url },
        }));
        const subscribed = await subscribe(world, { answers: [...answers, 200] });
        const witness = await subscribe(world);
        await endedRun(world);
        await arrived(world, subscribed);
        await settled(world, witness);
        same(elsewhere.arrivals.length, 0, 'the number of requests to the target of the redirect');
      },
    },
    {
      id: 'success-is-2xx',
      name: 'Every 2xx status of the receiver is a success and is not retried.',
      rule: [EVENTS, 'webhooks.delivery.success-is-2xx'],
      async run(world) {
        const subscribed = await Promise.all([201, 202, 204, 299].map((code) => subscribe(world, { answers: [code] })));
        const { runId } = await endedRun(world);
        for (const one of subscribed) await arrived(world, one);
        await world.sleep(RETRY_MS);
        const counts = subscribed.map(({ inbox }) => runsIn(inbox.arrivals).filter((id) => id === runId).length);
        same(counts, [1, 1, 1, 1], 'the numbers of deliveries to receivers that respond 201, 202, 204 and 299');
      },
    },
    {
      id: 'none-after-unregister',
      name: 'After unregistering is answered, no delivery or retry is sent.',
      rule: [RULES, 'webhooks.delivery.none-after-unregister'],
      async run(world) {
        const [subscribed, witness] = [await subscribe(world, { answers: [500] }), await subscribe(world)];
        await endedRun(world);
        await arrived(world, subscribed);
        status(await subscribed.unregister(), 204);
        const answeredMs = performance.now();
        const later = await endedRun(world);
        await settled(world, witness, 2);
        await world.sleep(RETRY_MS);
        const { arrivals } = subscribed.inbox;
        holds(!isAbout(arrivals, later.runId), 'no delivery of a run that ended after the answer', 'a delivery');
        const late = arrivals
          .map(({ monotonicMs }) => monotonicMs - answeredMs)
          .filter((afterMs) => afterMs > UNDER_WAY_MS);
        holds(late.length === 0, 'no attempt after the answer', `an attempt ${late[0]} ms after the answer`);
      },
    },
    {
      id: 'fair',
      name: 'A receiver that never responds does not delay deliveries to another receiver.',
      rule: [RULES, 'webhooks.delivery.fair-between-subscriptions'],
      async run(world) {
        await Promise.all(Array.from({ length: HANGING }, () => subscribe(world, { answers: ['hang'] })));
        const healthy = await subscribe(world);
        const runs = [await endedRun(world), await endedRun(world), await endedRun(world)];
        await arrived(world, healthy, runs.length);
      },
    },
    {
      id: 'replayed-history-not-delivered',
      name: 'Events that a replay fork repeats are not delivered.',
      rule: [RULES, 'webhooks.delivery.no-replayed-history'],
      needs: [capability('replay')],
      async run(world) {
        const subscribed = await subscribe(world, { events: ['run.started', COMPLETED], tags: 'none' });
        const source = await endedRun(world);
        const answer = await world.api.post(`/runs/${segment(source.runId)}:fork`, { mode: 'replay' });
        const { runId } = body(answer, 201, z.looseObject({ runId: resourceId[world.major] }));
        await untilStatus(world, runId, TERMINAL);
        const own = await endedRun(world);
        await arrivalOf(world, subscribed, own.runId);
        await world.sleep(QUIET_MS);
        holds(!isAbout(subscribed.inbox.arrivals, runId), 'no delivery of the replay fork', 'a delivery');
      },
    },
    {
      id: 'branch-delivered',
      name: 'Events of a branch are delivered.',
      rule: [RULES, 'webhooks.delivery.branch-delivered'],
      needs: [capability('replay')],
      async run(world) {
        const subscribed = await subscribe(world, { tags: 'none' });
        const source = await endedRun(world);
        const asked = { mode: 'branch', fromSeq: 1 };
        const answer = await world.api.post(`/runs/${segment(source.runId)}:fork`, asked);
        const { runId } = body(answer, 201, z.looseObject({ runId: resourceId[world.major] }));
        await untilStatus(world, runId, TERMINAL);
        await arrivalOf(world, subscribed, runId);
      },
    },
    {
      id: 'cancelled-delivered',
      name: '`run.cancelled` of a cancelled run is delivered.',
      rule: [EVENTS, 'webhooks.delivery.event-filter'],
      needs: [fixture(CANCELLABLE), scopes('runs:cancel')],
      async run(world) {
        const subscribed = await subscribe(world, { events: ['run.cancelled'] });
        const { runId } = await startRun(world, CANCELLABLE, { inputs: { delayMs: 20_000 } });
        status(await world.api.post(`/runs/${segment(runId)}/cancel`, {}), 200);
        await arrivalOf(world, subscribed, runId);
      },
    },
    {
      id: 'published-schema',
      name: 'Deliveries of every event type that the fixtures cause are valid by the schema that the host publishes.',
      rule: [BODY, 'webhooks.body.v2-schema-valid'],
      needs: [publishedSchemas],
      async run(world) {
        const problemsOf = await deliverySchema(world);
        // The types that the host sends: a host may refuse a subscription to others.
        const types = (await fixtureLogs(world)).map(({ type }) => type);
        const subscribed = await subscribe(world, { events: [...new Set(types)] });
        const caused = await fixtureLogs(world);
        for (const arrival of await arrived(world, subscribed, caused.length)) {
          const delivered = deliveredIn(arrival, world.major, subscribed.secret);
          same(problemsOf(delivered), [], `the problems of ${delivered.event.type}`);
        }
      },
    },
  ],
);

/** Longer than the wait of hosts before a retry, in ms. */
const RETRY_MS = 1600;
/** An attempt that began before the answer to unregistering may arrive so much later. */
const UNDER_WAY_MS = 250;
const HANGING = 8;
