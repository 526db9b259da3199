import { printTable } from '../table.mjs';
import { seed } from './delivering-host.mjs';
import { startHostProcess } from './host-processes.mjs';
import { startReceivers } from './receivers.mjs';
import { openStore, startStores } from './stores.mjs';

const SUBSCRIPTIONS = 100;
const PENDING = 1_000_000;
const STEPS = 5;
const WATCHED_MS = 10_000;
/** The advice of docs/operations.md for small machines: Node's default collects young garbage less often. */
const NODE_OPTIONS = ['--max-semi-space-size=4'];

/**
 * Measures the greatest resident memory of a host, in a process of its own, that appends events until a million
 * deliveries wait for receivers that never respond, and then keeps attempting them. The goal is 250 MB.
 */
export default async function memory() {
  const receivers = await startReceivers();
  const stores = await startStores();
  const found = {};
  try {
    for (const [name, placeOf] of Object.entries(stores.places))
      found[name] = await fill(name, placeOf('full'), receivers);
  } finally {
    receivers.stop();
    await stores.stop();
  }
  printTable(
    [`with ${PENDING} deliveries pending`, 'at the start', 'at the end', 'at most', 'goal'],
    Object.entries(found).map(([name, { startMb, endMb, peakMb }]) => [
      name,
      ...[startMb, endMb, peakMb, 250].map((megabytes) => `${Math.round(megabytes)} MB`),
    ]),
  );
  return { goalMb: 250, pending: PENDING, subscriptions: SUBSCRIPTIONS, nodeOptions: NODE_OPTIONS, found };
}

async function fill(name, place, receivers) {
  const store = await openStore(place);
  const { shared } = await seed(store, { subscriptions: SUBSCRIPTIONS, port: receivers.port, path: 'hang' });
  await store.close();
  const host = await startHostProcess({ place, mayFail: true }, NODE_OPTIONS);
  const { nowMb: startMb } = await host.memory();
  for (let step = 1; step <= STEPS; step += 1) {
    await host.append(shared, PENDING / SUBSCRIPTIONS / STEPS);
    const { nowMb } = await host.memory();
    console.log(`${name}: ${(PENDING * step) / STEPS} deliveries pending, ${Math.round(nowMb)} MB`);
  }
  await new Promise((resolve) => setTimeout(resolve, WATCHED_MS));
  const { nowMb: endMb, peakMb } = await host.memory();
  await host.stop();
  return { startMb, endMb, peakMb };
}
