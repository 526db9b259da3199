import { printTable } from '../table.mjs';
import { seed, startHost } from './delivering-host.mjs';
import { startHostProcess } from './host-processes.mjs';
import { latencies, share } from './latency.mjs';
import { startReceivers } from './receivers.mjs';
import { openStore, startStores } from './stores.mjs';

const TENANTS = 20;
const QUIET = 100;
const LOAD = { perSecond: 100, seconds: 4 };
const DEADLINE_MS = 60_000;
/**
 * The loads. Each consists of 10 000 deliveries. The ratio under a flood is far from the goal. Under receivers that hang, both
 * latencies are a few dozen milliseconds, which a stall of the machine doubles: so there are more rounds.
 */
const LOADS = {
  'that hang': { subscriptions: 400, path: 'hang', deliveries: 10_000, isBacklog: true, rounds: 9 },
  'that flood': { subscriptions: 10_000, path: 'hook', deliveries: 10_000, isBacklog: false, rounds: 3 },
};
const GOAL = 1.5;

/**
 * Measures the latency of events of twenty tenants at 100 a second beside a load of one further tenant, and beside the
 * same load spread evenly over the twenty. Both hosts run all the time and take turns; the one that begins alternates. The
 * goal is a median of the 99th percentiles of at most 1.5 times that of the even load. The first round counts apart: each
 * receiver that hangs has all places of a new subscription then.
 */
export default async function neighbours() {
  const receivers = await startReceivers();
  const stores = await startStores();
  const places = {
    SQLite: { placeOf: stores.places.SQLite, others: 0 },
    PostgreSQL: { placeOf: stores.places.PostgreSQL, others: 0 },
    'two hosts': { placeOf: stores.places.PostgreSQL, others: 1 },
  };
  const found = {};
  try {
    for (const [name, { placeOf, others }] of Object.entries(places)) {
      for (const [kind, load] of Object.entries(LOADS)) {
        const key = `${name} ${kind}`.replaceAll(' ', '_').toLowerCase();
        const of = { receivers, load, others };
        const even = await hostsOf({
          ...of,
          place: placeOf(`${key}_even`),
          tenantOf: (index) => `t${index % TENANTS}`,
        });
        const one = await hostsOf({ ...of, place: placeOf(`${key}_one`), tenantOf: () => 'noisy' });
        try {
          found[`${name}, ${load.subscriptions} receivers ${kind}`] = await compare(`${name}, ${kind}`, load.rounds, {
            even,
            one,
          });
        } finally {
          for (const hosts of [even, one]) await hosts.stop();
        }
      }
    }
  } finally {
    receivers.stop();
    await stores.stop();
  }
  printTable(
    [
      '99 % at 100 events a second',
      'load of all tenants',
      'load of one',
      'ratio',
      'middle half',
      'first round',
      'goal',
    ],
    Object.entries(found).map(([name, { even, one, ratio, middle, first }]) => [
      name,
      `${even.toFixed(1)} ms`,
      `${one.toFixed(1)} ms`,
      ratio.toFixed(2),
      middle.map((each) => each.toFixed(2)).join(' to '),
      first.toFixed(2),
      verdict(ratio, middle),
    ]),
  );
  return { goal: GOAL, load: LOAD, loads: LOADS, found };
}

/** Starts the hosts of one store, with the quiet subscriptions and those of the load. */
async function hostsOf({ place, receivers, load, others, tenantOf }) {
  const store = await openStore(place);
  const { port } = receivers;
  const quietTenant = (index) => `t${index % TENANTS}`;
  const quiet = await seed(store, { subscriptions: QUIET, port, path: 'counted', tenantOf: quietTenant });
  const { subscriptions, path, deliveries, isBacklog } = load;
  const { own } = await seed(store, { subscriptions, port, path, prefix: 'load_', tenantOf });
  const host = await startHost(store, { mayFail: true });
  const other = others === 0 ? undefined : await startHostProcess({ place, mayFail: true });
  const runs = Object.fromEntries(quiet.own.map((runId, index) => [`whk_${index}`, runId]));
  const append = async () => {
    const half = other === undefined ? 0 : Math.floor(own.length / 2);
    const part = (deliveries * half) / own.length;
    await Promise.all([host.appendAll(own.slice(half), deliveries - part), other?.append(own.slice(0, half), part)]);
  };
  if (isBacklog) await append();
  return {
    /** Returns the 99th percentile in ms. */
    async measure() {
      const loading = isBacklog ? undefined : append();
      const arrived = () => allArrived(receivers, LOAD.perSecond * LOAD.seconds);
      const times = await latencies(host, receivers, runs, { ...LOAD, arrived });
      await loading;
      await drained(store);
      return share(times, 0.99);
    },
    async stop() {
      await other?.stop();
      await host.stop();
    },
  };

  /** Waits until nothing is due, unless the load is a backlog of receivers that hang. */
  async function drained(store) {
    if (isBacklog) return;
    const read = () => store.backlog.read({ webhookIds: undefined, now: Date.now(), limit: 1 });
    for (let left = await read(); left.due > 0; left = await read()) await sleep(100);
    await sleep(500);
  }
}

async function allArrived(receivers, events) {
  const started = performance.now();
  for (let counts = await receivers.counts(); counts.events < events; counts = await receivers.counts()) {
    if (performance.now() - started > DEADLINE_MS)
      throw new Error(`Only ${counts.events} of ${events} events arrived.`);
    await sleep(50);
  }
}

async function compare(name, rounds, hosts) {
  const measured = [];
  for (let round = 0; round <= rounds; round += 1) {
    const times = {};
    const order = Object.keys(hosts);
    for (const which of round % 2 === 0 ? order : order.reverse()) times[which] = await hosts[which].measure();
    console.log(`${name}, round ${round} of ${rounds}: ${times.even.toFixed(1)}, ${times.one.toFixed(1)} ms`);
    measured.push(times);
  }
  const [first, ...others] = measured;
  const of = (which) => quantile(others, (times) => times[which], 0.5);
  const ratioOf = ({ even, one }) => one / even;
  return {
    even: of('even'),
    one: of('one'),
    ratio: of('one') / of('even'),
    /** The quartiles of the ratios of single rounds. */
    middle: [quantile(others, ratioOf, 0.25), quantile(others, ratioOf, 0.75)],
    first: ratioOf(first),
  };
}

function quantile(rounds, of, part) {
  const sorted = rounds.map(of).sort((a, b) => a - b);
  return sorted[Math.round((sorted.length - 1) * part)];
}

function verdict(ratio, [low, high]) {
  if (ratio <= GOAL) return high <= GOAL ? 'held' : 'held by the median';
  return low > GOAL ? 'missed' : 'not conclusive';
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
