import { summary } from '../alternate.mjs';
import { versionsOf } from '../peer-versions.mjs';
import { printTable, rate } from '../table.mjs';
import { AT_ONCE, seed, startHost } from './delivering-host.mjs';
import { latencies, share } from './latency.mjs';
import { rawLoop, startReceivers } from './receivers.mjs';
import { openStore, startStores } from './stores.mjs';

const SUBSCRIPTIONS = 100;
const ROUNDS = 5;
const RAW = 'undici POST loop';
const RAW_POSTS = 20_000;
/** The deliveries of a round, which take about a second. */
const DELIVERIES = { SQLite: 8000, PostgreSQL: 4000 };

/**
 * Measures deliveries per second from `append` to the receiver's response, and the latency at 200 events per second:
 * 100 subscriptions, 0.4 KB bodies, TLS, receivers in another process. Each event matches either one of the
 * subscriptions, so that every delivery has an append of its own, or all of them. The limit is a pooled undici POST
 * loop to the same receivers in the same process.
 */
export default async function deliver() {
  const receivers = await startReceivers();
  const stores = await startStores();
  const hosts = {};
  try {
    for (const [name, placeOf] of Object.entries(stores.places)) {
      const store = await openStore(placeOf('deliver'));
      const runs = await seed(store, { subscriptions: SUBSCRIPTIONS, port: receivers.port });
      hosts[name] = { host: await startHost(store), runs, deliveries: DELIVERIES[name] };
    }
    const raw = rawLoop(receivers.port, AT_ONCE);
    const candidates = { [RAW]: () => raw.run(RAW_POSTS) };
    for (const [name, { host, runs, deliveries }] of Object.entries(hosts)) {
      candidates[`${name}, one listens`] = () => host.perSecond(runs.own, { events: deliveries, listeners: 1 });
      candidates[`${name}, all listen`] = () =>
        host.perSecond(runs.shared, { events: deliveries / SUBSCRIPTIONS, listeners: SUBSCRIPTIONS });
    }
    const rates = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
    for (let round = 0; round <= ROUNDS; round += 1) {
      const measured = {};
      for (const [name, run] of Object.entries(candidates)) measured[name] = await run();
      console.log(`round ${round} of ${ROUNDS}: ${Object.values(measured).map(rate).join(', ')}`);
      // The first round does not count, because part of the code is not compiled yet.
      if (round > 0) for (const [name, each] of Object.entries(measured)) rates[name].push(each);
    }
    await raw.close();
    const found = Object.fromEntries(Object.entries(rates).map(([name, values]) => [name, summary(values)]));
    printTable(
      ['deliveries', 'per second', 'of the loop', 'spread'],
      Object.entries(found).map(([name, { perSecond, spread }]) => [
        name,
        rate(perSecond),
        (perSecond / found[RAW].perSecond).toFixed(2),
        `${Math.round(spread * 100)} %`,
      ]),
    );
    const latency = {};
    for (const [name, { host, runs }] of Object.entries(hosts)) {
      const heard = Object.fromEntries(runs.own.map((runId, index) => [`whk_${index}`, runId]));
      const times = await latencies(host, receivers, heard, { perSecond: 200, seconds: 10 });
      latency[name] = { median: share(times, 0.5), p99: share(times, 0.99) };
    }
    printTable(
      ['at 200 events a second', 'median', '99 %'],
      Object.entries(latency).map(([name, { median, p99 }]) => [
        name,
        `${median.toFixed(1)} ms`,
        `${p99.toFixed(1)} ms`,
      ]),
    );
    const goals = { sqlite: 0.5, postgres: 0.2, medianMs: 10, p99Ms: 50 };
    return { goals, versions: versionsOf(['undici']), limit: RAW, found, latency };
  } finally {
    for (const { host } of Object.values(hosts)) await host.stop();
    receivers.stop();
    await stores.stop();
  }
}
