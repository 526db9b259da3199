import { summary } from '../alternate.mjs';
import { printTable, rate } from '../table.mjs';
import { seed } from './delivering-host.mjs';
import { startHostProcess } from './host-processes.mjs';
import { startReceivers } from './receivers.mjs';
import { openStore, startStores } from './stores.mjs';

const SUBSCRIPTIONS = 100;
const ROUNDS = 5;
const EVENTS = 6000;

/**
 * Measures deliveries per second of one host and of two hosts that share a PostgreSQL, each in a process of its own,
 * and checks that every event arrives. The goal is that two hosts are not slower than one.
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
    const { own } = await seed(store, { subscriptions: SUBSCRIPTIONS, port: receivers.port, path: 'counted' });
    await store.close();
    for (let round = 0; round <= ROUNDS; round += 1) {
      const measured = {};
      for (const [name, count] of Object.entries({ 'one host': 1, 'two hosts': 2 })) {
        const hosts = await Promise.all(Array.from({ length: count }, () => startHostProcess({ place })));
        // This part does not count, because the code of the new processes is not compiled yet.
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
  console.log(`two hosts to one: ${ratio.perSecond.toFixed(2)} (goal: 1.0)`);
  console.log(`every event arrived, ${repeated} of them more than once`);
  return { goal: 1, ratio: ratio.perSecond, repeated, found };
}

/** Appends events and waits until each has arrived. Returns events per second and the number of repeated deliveries. */
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
    if (elapsed > DEADLINE_MS) throw new Error(`Only ${counts.events} of ${events} events arrived.`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const DEADLINE_MS = 120_000;
