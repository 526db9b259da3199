import { summary } from '../alternate.mjs';
import { printTable, rate } from '../table.mjs';
import { furnish } from './delivering-host.mjs';
import { startHostProcess } from './host-processes.mjs';
import { startReceivers } from './receivers.mjs';
import { openStore, startStores } from './stores.mjs';

const SUBSCRIPTIONS = 100;
const ROUNDS = 5;
const EVENTS = 6000;

/**
 * Deliveries a second of one host and of two that share a PostgreSQL, each host in a process of its own; and that every event arrived.
 * The goal is that two are never slower than one.
 */
export default async function twoHosts() {
  const receivers = await startReceivers();
  const stores = await startStores();
  const rates = { 'one host': [], 'two hosts': [] };
  const ratios = [];
  let repeated = 0;
  try {
    const place = stores.places.PostgreSQL('two');
    const store = await openStore(place);
    const { own } = await furnish(store, { subscriptions: SUBSCRIPTIONS, port: receivers.port, path: 'counted' });
    await store.close();
    for (let round = 0; round <= ROUNDS; round += 1) {
      const measured = {};
      for (const [name, count] of Object.entries({ 'one host': 1, 'two hosts': 2 })) {
        const hosts = await Promise.all(Array.from({ length: count }, () => startHostProcess({ place })));
        // Not compiled yet: a round of its own that does not count.
        await deliverAll(hosts, own, EVENTS / 4, receivers);
        const { perSecond, again } = await deliverAll(hosts, own, EVENTS, receivers);
        measured[name] = perSecond;
        repeated += again;
        for (const host of hosts) await host.stop();
      }
      console.log(`round ${round} of ${ROUNDS}: ${Object.values(measured).map(rate).join(', ')}`);
      if (round === 0) continue;
      for (const [name, perSecond] of Object.entries(measured)) rates[name].push(perSecond);
      ratios.push(measured['two hosts'] / measured['one host']);
    }
  } finally {
    receivers.stop();
    await stores.stop();
  }
  const found = Object.fromEntries(Object.entries(rates).map(([name, values]) => [name, summary(values)]));
  const ratio = summary(ratios);
  printTable(
    ['PostgreSQL, durable', 'per second', 'spread'],
    Object.entries(found).map(([name, { perSecond, spread }]) => [
      name,
      rate(perSecond),
      `${Math.round(spread * 100)} %`,
    ]),
  );
  console.log(
    `two of one: ${ratio.perSecond.toFixed(2)} (goal: 1.0); every event arrived, ${repeated} of them more than once`,
  );
  return { goal: 1, ratio: ratio.perSecond, repeated, found };
}

/** From the first append until each event has arrived. */
async function deliverAll(hosts, runs, events, receivers) {
  await receivers.start();
  const started = performance.now();
  const share = Math.ceil(runs.length / hosts.length);
  await Promise.all(
    hosts.map((host, index) => host.append(runs.slice(index * share, (index + 1) * share), events / hosts.length)),
  );
  for (;;) {
    const counts = await receivers.counts();
    const elapsed = performance.now() - started;
    if (counts.events === events)
      return { perSecond: (events / elapsed) * 1000, again: counts.deliveries - counts.events };
    if (elapsed > DEADLINE_MS) throw new Error(`Of ${events} events ${counts.events} arrived.`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const DEADLINE_MS = 120_000;
