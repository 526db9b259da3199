import { summary } from '../alternate.mjs';
import { printTable } from '../table.mjs';
import { seed, startHost } from './delivering-host.mjs';
import { latencies, share } from './latency.mjs';
import { startReceivers } from './receivers.mjs';
import { openStore, startStores } from './stores.mjs';

const SUBSCRIPTIONS = 100;
const BACKLOG = 10_000;
const ROUNDS = 5;
const LOAD = { perSecond: 200, seconds: 4 };

/**
 * Measures the latency of events at 200 per second while 10 000 deliveries wait for a receiver that never responds, and
 * without such a receiver. Both hosts run all the time and take turns. The goal is a 99th percentile of at most twice
 * the undisturbed one.
 */
export default async function noisy() {
  const receivers = await startReceivers();
  const stores = await startStores();
  const hosts = [];
  const found = {};
  try {
    for (const [name, placeOf] of Object.entries(stores.places)) {
      const undisturbed = await hostOf(placeOf('calm'), receivers);
      const disturbed = await hostOf(placeOf('noisy'), receivers);
      hosts.push(undisturbed.host, disturbed.host);
      await hang(disturbed, receivers);
      found[name] = await compare(name, receivers, { undisturbed, disturbed });
      for (const host of hosts.splice(0)) await host.stop();
    }
  } finally {
    for (const host of hosts) await host.stop();
    receivers.stop();
    await stores.stop();
  }
  printTable(
    ['at 200 events a second', 'undisturbed', 'beside one that hangs', 'ratio', 'spread'],
    Object.entries(found).flatMap(([name, shares]) =>
      Object.entries(shares).map(([part, { undisturbed, disturbed, ratio, spread }]) => [
        `${name}, ${part}`,
        `${undisturbed.toFixed(1)} ms`,
        `${disturbed.toFixed(1)} ms`,
        ratio.toFixed(2),
        `${Math.round(spread * 100)} %`,
      ]),
    ),
  );
  return { goal: 2, backlog: BACKLOG, load: LOAD, found };
}

async function hostOf(place, receivers) {
  const store = await openStore(place);
  const { own } = await seed(store, { subscriptions: SUBSCRIPTIONS, port: receivers.port });
  const runs = Object.fromEntries(own.map((runId, index) => [`whk_${index}`, runId]));
  return { store, runs, host: await startHost(store, { mayFail: true }) };
}

/** Adds a subscription whose receiver never responds, with a backlog of deliveries. */
async function hang({ store, host }, receivers) {
  const { own } = await seed(store, { subscriptions: 1, port: receivers.port, path: 'hang', prefix: 'noisy_' });
  await host.appendAll(own, BACKLOG);
  console.log(`${BACKLOG} deliveries wait for a receiver that hangs`);
}

async function compare(name, receivers, candidates) {
  const rounds = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const measured = {};
    for (const [state, { host, runs }] of Object.entries(candidates)) {
      const times = await latencies(host, receivers, runs, LOAD);
      measured[state] = { median: share(times, 0.5), '99 %': share(times, 0.99) };
    }
    const said = Object.values(measured).map((shares) => `${shares['99 %'].toFixed(1)} ms`);
    console.log(`${name}, round ${round} of ${ROUNDS}: 99 % ${said.join(', ')}`);
    if (round > 0) rounds.push(measured);
  }
  return Object.fromEntries(['median', '99 %'].map((part) => [part, compared(rounds, part)]));
}

function compared(rounds, part) {
  const { perSecond: ratio, spread } = summary(rounds.map((each) => each.disturbed[part] / each.undisturbed[part]));
  const of = (state) => summary(rounds.map((each) => each[state][part])).perSecond;
  return { undisturbed: of('undisturbed'), disturbed: of('disturbed'), ratio, spread };
}
