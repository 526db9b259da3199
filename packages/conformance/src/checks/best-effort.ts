import { area, type RunnableCheck } from '../check.ts';
import { holds, same } from '../expect.ts';
import { NOOP } from '../fixtures.ts';
import { deliveries, fixture, bestEffort as isBestEffort, scopes, shortened, workspace } from '../needs.ts';
import { endedRun } from '../steps/runs.ts';
import { arrivalOf, arrived, isAbout, QUIET_MS, type Subscribed, settled, subscribe } from '../steps/webhooks.ts';
import type { World } from '../world.ts';

const EVENTS = 'Events: Webhook delivery of events';
const CIRCUIT = 'Webhook delivery circuit (v1 best-effort mode, per subscription)';

/** Best-effort delivery of major 1: one attempt for each event, and a circuit for receivers that fail. */
export const bestEffort: readonly RunnableCheck[] = area(
  'best-effort',
  {
    needs: [scopes('webhooks:manage', 'runs:create', 'runs:read'), workspace, fixture(NOOP), deliveries, isBestEffort],
  },
  [
    {
      id: 'single-attempt',
      name: 'A failed delivery is not retried, for any error status or redirect.',
      rule: [EVENTS, 'webhooks.best-effort.single-attempt'],
      majors: [1],
      async run(world) {
        const answers = [500, 404, 302, { status: 429, headers: { 'retry-after': '1' } }] as const;
        const failing = await Promise.all(answers.map((answer) => subscribe(world, { answers: [answer] })));
        const { runId } = await endedRun(world);
        for (const one of failing) await arrivalOf(world, one, runId);
        await world.sleep(RETRY_MS);
        same(
          failing.map(countOf),
          [1, 1, 1, 1],
          'the numbers of attempts to receivers that respond 500, 404, 302 and 429',
        );
      },
    },
    {
      id: 'timeout',
      name: 'An attempt without a response ends after 5 seconds.',
      rule: [EVENTS, 'webhooks.best-effort.timeout'],
      majors: [1],
      async run(world) {
        const { attemptTimeoutMs = 5000 } = world.target.durations;
        const hanging = await subscribe(world, { answers: ['hang'] });
        const { runId } = await endedRun(world);
        const arrival = await arrivalOf(world, hanging, runId);
        const { took } = await world.eventually(
          `the attempt to end after ${attemptTimeoutMs} ms`,
          async () => (arrival.abandonedAfterMs === undefined ? undefined : { took: arrival.abandonedAfterMs }),
          attemptTimeoutMs + SLACK_MS,
        );
        holds(took >= attemptTimeoutMs * 0.8 - 100, `an attempt of ${attemptTimeoutMs} ms`, `one of ${took} ms`);
      },
    },
    {
      id: 'circuit-opens',
      name: 'The fourth failure in a row opens the circuit: the next event is not sent.',
      rule: [CIRCUIT, 'webhooks.circuit.opens-at-four'],
      majors: [1],
      async run(world) {
        const [failing, healthy] = [await subscribe(world, { answers: [500] }), await subscribe(world)];
        await happens(world, failing, healthy, THRESHOLD);
        await endedRun(world);
        await settled(world, healthy, THRESHOLD + 1);
        same(countOf(failing), THRESHOLD, 'the number of attempts for five events');
      },
    },
    {
      id: 'circuit-counts-in-a-row',
      name: 'Three failures in a row do not open the circuit, and a success resets the count.',
      rule: [CIRCUIT, 'webhooks.circuit.success-resets'],
      majors: [1],
      async run(world) {
        const answers = [500, 500, 500, 200, 500, 500, 500, 200];
        const [one, healthy] = [await subscribe(world, { answers }), await subscribe(world)];
        await happens(world, one, healthy, answers.length);
      },
    },
    {
      id: 'circuit-of-its-own',
      name: 'The open circuit of one subscription does not stop another.',
      rule: [CIRCUIT, 'webhooks.circuit.per-subscription'],
      majors: [1],
      async run(world) {
        const [failing, healthy] = [await subscribe(world, { answers: [500] }), await subscribe(world)];
        await happens(world, failing, healthy, THRESHOLD);
        const { runId } = await endedRun(world);
        await arrivalOf(world, healthy, runId);
      },
    },
    {
      id: 'circuit-probes',
      name: 'After the cooldown the next event is sent as a probe, and its success closes the circuit.',
      rule: [CIRCUIT, 'webhooks.circuit.probe-success-closes'],
      majors: [1],
      needs: [shortened('circuitCooldownMs', 'circuit-cooldown-ms')],
      async run(world) {
        const { failing, cooledDown } = await opened(world);
        failing.inbox.answer(200);
        await cooledDown();
        for (let event = 0; event < 2; event += 1) {
          const { runId } = await endedRun(world);
          await arrivalOf(world, failing, runId);
        }
      },
    },
    {
      id: 'circuit-reopens',
      name: 'A probe that fails opens the circuit again.',
      rule: [CIRCUIT, 'webhooks.circuit.probe-failure-reopens'],
      majors: [1],
      needs: [shortened('circuitCooldownMs', 'circuit-cooldown-ms')],
      async run(world) {
        const { failing, healthy, cooledDown } = await opened(world);
        await cooledDown();
        await attempted(world, failing);
        const skipped = await endedRun(world);
        await arrivalOf(world, healthy, skipped.runId);
        await world.sleep(QUIET_MS);
        holds(!isAbout(failing.inbox.arrivals, skipped.runId), 'no attempt after the failed probe', 'an attempt');
      },
    },
    {
      id: 'gone',
      name: 'A receiver that responds 410 gets no further delivery.',
      rule: [EVENTS, 'webhooks.delivery.gone-fails-subscription'],
      majors: [1],
      async run(world) {
        const [gone, healthy] = [await subscribe(world, { answers: [410, 200] }), await subscribe(world)];
        await happens(world, gone, healthy, 1);
        await endedRun(world);
        await settled(world, healthy, 2);
        same(countOf(gone), 1, 'the number of attempts for two events');
      },
    },
  ],
);

const THRESHOLD = 4;
/** Longer than the wait of hosts before a retry, in ms. */
const RETRY_MS = 1600;
/** Time for the host to record a failure after the response, in ms. A host that is slow at everything gets more. */
const RECORDED_MS = 500;
const LONGEST_RECORDED_MS = 1500;
const SLACK_MS = 5000;

function countOf({ inbox }: Subscribed): number {
  return inbox.arrivals.length;
}

/** Makes `count` events in turn, each attempted before the next. */
async function happens(world: World, one: Subscribed, healthy: Subscribed, count: number): Promise<void> {
  for (let event = 1; event <= count; event += 1) {
    await attempted(world, one, () => arrived(world, healthy, event));
  }
}

/** Makes an event, and waits until its attempt has arrived and is recorded. */
async function attempted(world: World, one: Subscribed, andAlso?: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  const { runId } = await endedRun(world);
  await arrivalOf(world, one, runId);
  await andAlso?.();
  const took = performance.now() - began;
  await world.sleep(Math.min(Math.max(RECORDED_MS, took), LONGEST_RECORDED_MS));
}

/** Opens the circuit of a subscription. `cooledDown` waits for the end of the cooldown. */
async function opened(world: World) {
  const { circuitCooldownMs = 0 } = world.target.durations;
  const [failing, healthy] = [await subscribe(world, { answers: [500] }), await subscribe(world)];
  await happens(world, failing, healthy, THRESHOLD);
  const end = performance.now() + circuitCooldownMs + RECORDED_MS;
  return { failing, healthy, cooledDown: () => world.sleep(Math.max(0, end - performance.now())) };
}
