import { area, type RunnableCheck } from '../check.ts';
import { holds, same } from '../expect.ts';
import { NOOP } from '../fixtures.ts';
import { deliveries, exhaustible, fixture, durable as isDurable, scopes, workspace } from '../needs.ts';
import type { Arrival } from '../receiver/receiver.ts';
import { carries, familyOf, verify } from '../receiver/signature.ts';
import { endedRun } from '../steps/runs.ts';
import { arrivalOf, arrived, type Subscribed, settled, subscribe } from '../steps/webhooks.ts';
import { maxAttemptsOf } from '../target.ts';
import type { World } from '../world.ts';

const EVENTS = 'Events: Webhook delivery of events';

/** Durable delivery: attempts until one succeeds or the retry policy is exhausted. */
export const durable: readonly RunnableCheck[] = area(
  'durable',
  { needs: [scopes('webhooks:manage', 'runs:create', 'runs:read'), workspace, fixture(NOOP), deliveries, isDurable] },
  [
    {
      id: 'retried',
      name: 'A failed delivery is retried with the same body until it succeeds.',
      rule: [EVENTS, 'webhooks.durable.retries'],
      async run(world) {
        const subscribed = await subscribe(world, { answers: [500, 200] });
        await endedRun(world);
        const [first, second] = await arrived(world, subscribed, 2, patienceFor(world));
        await world.sleep(RETRY_MS);
        same(subscribed.inbox.arrivals.length, 2, 'the number of attempts');
        holds(
          first !== undefined && second !== undefined && first.body.equals(second.body),
          'the same body in both attempts',
          'another body in the second attempt',
        );
      },
    },
    {
      id: 'redirect-retried',
      name: 'A redirect counts as a failure and is retried.',
      rule: [EVENTS, 'webhooks.delivery.redirect-is-failure'],
      async run(world) {
        const elsewhere = world.inbox(200);
        const redirect = { status: 307, headers: { location: elsewhere.url } };
        const subscribed = await subscribe(world, { answers: [redirect, 200] });
        await endedRun(world);
        await arrived(world, subscribed, 2, patienceFor(world));
        same(elsewhere.arrivals.length, 0, 'the number of requests to the target of the redirect');
      },
    },
    {
      id: 'hang-retried',
      name: 'An attempt without a response is ended and retried.',
      rule: [EVENTS, 'webhooks.durable.retries'],
      async run(world) {
        const { attemptTimeoutMs = 5000 } = world.target.durations;
        const subscribed = await subscribe(world, { answers: ['hang', 200] });
        await endedRun(world);
        await arrived(world, subscribed, 2, 2 * attemptTimeoutMs + patienceFor(world));
      },
    },
    {
      id: 'signed-afresh',
      name: 'Every attempt is signed with the time of that attempt.',
      rule: ['Webhook delivery rules (both majors)', 'webhooks.delivery.signed-per-attempt'],
      async run(world) {
        const subscribed = await subscribe(world, { answers: [UNAVAILABLE, 200] });
        await endedRun(world);
        const attempts = await arrived(world, subscribed, 2, patienceFor(world));
        const [first = 0, second = 0] = attempts.map((attempt) => signedAt(attempt, subscribed));
        holds(
          second - first >= LATER_S - 1,
          `a timestamp about ${LATER_S} s after the first`,
          `one ${second - first} s after it`,
        );
      },
    },
    {
      id: 'retry-after',
      name: 'A retry waits for the `Retry-After` of a 429 or 503 response.',
      rule: [EVENTS, 'webhooks.durable.retry-after'],
      async run(world) {
        const subscribed = await Promise.all(
          [TOO_MANY, UNAVAILABLE].map((answer) => subscribe(world, { answers: [answer, 200] })),
        );
        await endedRun(world);
        for (const one of subscribed) {
          const [first, second] = await arrived(world, one, 2, patienceFor(world));
          const waited = (second?.monotonicMs ?? 0) - (first?.monotonicMs ?? 0);
          holds(
            waited >= LATER_S * 1000 - EARLY_MS,
            `a second attempt after ${LATER_S} s`,
            `a second attempt after ${waited} ms`,
          );
        }
      },
    },
    {
      id: 'attempts-bounded',
      name: 'A failing delivery is attempted exactly `retryPolicy.maxAttempts` times.',
      rule: [EVENTS, 'webhooks.durable.retries'],
      needs: [exhaustible],
      async run(world) {
        const most = maxAttemptsOf(world.target) ?? 0;
        const subscribed = await subscribe(world, { answers: [500] });
        await endedRun(world);
        await arrived(world, subscribed, most, patienceFor(world) + most * RETRY_MS);
        await world.sleep(2 * RETRY_MS);
        same(subscribed.inbox.arrivals.length, most, 'the number of attempts');
      },
    },
    {
      id: 'no-circuit',
      name: 'Failures of earlier events do not stop the delivery of later events.',
      rule: ['Durable subscription (trigger bridge)', 'webhooks.durable.no-circuit-drop'],
      needs: [exhaustible],
      async run(world) {
        const most = maxAttemptsOf(world.target) ?? 0;
        const subscribed = await subscribe(world, { answers: [500] });
        const events = Math.ceil(MORE_THAN_A_CIRCUIT_TAKES / most);
        await Promise.all(Array.from({ length: events }, () => endedRun(world)));
        await arrived(world, subscribed, events * most, patienceFor(world) + most * RETRY_MS);
        subscribed.inbox.answer(200);
        const { runId } = await endedRun(world);
        await arrivalOf(world, subscribed, runId);
      },
    },
    {
      id: 'gone',
      name: 'A receiver that responds 410 gets no further delivery or retry.',
      rule: ['Webhook delivery rules (both majors)', 'webhooks.delivery.gone-fails-subscription'],
      async run(world) {
        const [gone, healthy] = [await subscribe(world, { answers: [410, 200] }), await subscribe(world)];
        const { runId } = await endedRun(world);
        await arrivalOf(world, gone, runId);
        await world.sleep(RETRY_MS);
        await endedRun(world);
        await settled(world, healthy, 2);
        same(gone.inbox.arrivals.length, 1, 'the number of attempts for two events');
      },
    },
  ],
);

/** Longer than the wait of hosts before a retry, in ms. */
const RETRY_MS = 1600;
const LATER_S = 3;
/** Tolerance for clocks and timers, in ms. */
const EARLY_MS = 200;
const RETRY_AFTER = { 'retry-after': String(LATER_S) };
const TOO_MANY = { status: 429, headers: RETRY_AFTER };
const UNAVAILABLE = { status: 503, headers: RETRY_AFTER };
const MORE_THAN_A_CIRCUIT_TAKES = 5;

/** Longest wait for a retry, in ms. */
function patienceFor({ target }: World): number {
  return target.patienceMs + LATER_S * 1000;
}

function signedAt(arrival: Arrival, { secret }: Subscribed): number {
  const family = carries(arrival, 'SVC') ? 'SVC' : 'X-svc';
  verify(arrival, family, secret);
  return Number(familyOf(arrival, family).timestamp);
}
