import { summary } from '../alternate.mjs';
import { printTable, rate } from '../table.mjs';
import { seed, startHost } from './delivering-host.mjs';
import { startReceivers } from './receivers.mjs';
import { subscriptionOf } from './records.mjs';
import { openStore, startStores } from './stores.mjs';

const ROUNDS = 5;
const DELIVERIES = { SQLite: 6000, PostgreSQL: 3000 };
const PAUSED = 100;
const STEP = 2000;
/** The growing quantities, with their small and large size. `goal`: the greatest ratio of the costs of a delivery. */
const GROWTH = {
  'stored deliveries': {
    small: { stored: 1000, subscriptions: 100 },
    large: { stored: 1e6, subscriptions: 100 },
    goal: 1.3,
  },
  subscriptions: { small: { stored: 0, subscriptions: 10 }, large: { stored: 0, subscriptions: 10_000 }, goal: 1.5 },
};

/**
 * Measures the cost of a delivery, from append to response, in a small and in a large store. The large one holds
 * deliveries that wait for paused subscriptions, or many subscriptions that match events in turn. The two stores take
 * turns.
 */
export default async function growth() {
  const receivers = await startReceivers();
  const stores = await startStores();
  const found = {};
  try {
    for (const [name, placeOf] of Object.entries(stores.places)) {
      for (const [quantity, { small, large, goal }] of Object.entries(GROWTH)) {
        const sizes = {};
        for (const [size, holding] of Object.entries({ small, large })) {
          const place = placeOf(`${quantity.replaceAll(' ', '_')}_${size}`);
          sizes[size] = await hostOf(place, receivers.port, holding);
        }
        found[`${name}, ${quantity}`] = { goal, ...(await compare(`${name}, ${quantity}`, sizes, DELIVERIES[name])) };
        for (const { host } of Object.values(sizes)) await host.stop();
      }
    }
  } finally {
    receivers.stop();
    await stores.stop();
  }
  printTable(
    ['cost of a delivery', 'with little', 'with much', 'ratio', 'goal', 'spread'],
    Object.entries(found).map(([name, { small, large, ratio, goal, spread }]) => [
      name,
      `${Math.round(small)} µs`,
      `${Math.round(large)} µs`,
      ratio.toFixed(2),
      goal,
      `${Math.round(spread * 100)} %`,
    ]),
  );
  return { growth: GROWTH, found };
}

async function hostOf(place, port, { stored, subscriptions }) {
  const store = await openStore(place);
  const { own } = await seed(store, { subscriptions, port });
  await keepWaiting(store, stored, port);
  return { runs: own, host: await startHost(store) };
}

/** Stores deliveries that stay, because their subscriptions are paused. */
async function keepWaiting(store, count, port) {
  if (count === 0) return;
  const started = performance.now();
  const body = Buffer.alloc(400, 'x');
  const paused = Array.from({ length: PAUSED }, (_, index) => `whk_paused_${index}`);
  await store.transaction(async (transaction) => {
    for (const webhookId of paused) {
      const subscription = subscriptionOf({ webhookId, workspaces: ['paused'], port, status: 'paused' });
      await store.subscriptions.insert(subscription, transaction);
    }
  });
  for (let from = 0; from < count; from += STEP) {
    const deliveries = Array.from({ length: Math.min(STEP, count - from) }, (_, index) => ({
      deliveryId: `dlv_stored_${from + index}`,
      webhookId: paused[(from + index) % PAUSED],
      runId: 'run_stored',
      eventId: `evt_stored_${from + index}`,
      sequence: from + index,
      eventType: 'node.completed',
      body,
      attempts: 0,
      dueAt: Date.now(),
    }));
    await store.transaction((transaction) => store.deliveries.enqueue(deliveries, transaction));
  }
  console.log(`stored ${count} deliveries in ${Math.round((performance.now() - started) / 1000)} s`);
}

async function compare(name, sizes, deliveries) {
  const rounds = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const measured = {};
    for (const [size, { host, runs }] of Object.entries(sizes))
      measured[size] = await host.perSecond(runs, { events: deliveries, listeners: 1 });
    console.log(`${name}, round ${round} of ${ROUNDS}: ${Object.values(measured).map(rate).join(', ')} a second`);
    if (round > 0) rounds.push(measured);
  }
  const { perSecond: ratio, spread } = summary(rounds.map(({ small, large }) => small / large));
  const micros = (size) => 1e6 / summary(rounds.map((each) => each[size])).perSecond;
  return { small: micros('small'), large: micros('large'), ratio, spread };
}
