// Measures what deliveries on SQLite cost a host, as a process of its own: `node delivery-cost.mjs`. The parent sends the
// number of deliveries of a round, and gets the microseconds of processor time and the kilobytes written for each: of a POST
// of the undici loop, of events that one subscription hears of, and of events that all hear of.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AT_ONCE, seed, startHost } from './delivering-host.mjs';
import { rawLoop, startReceivers } from './receivers.mjs';
import { openStore } from './stores.mjs';

const SUBSCRIPTIONS = 100;
const folder = mkdtempSync(join(tmpdir(), 'svc-cost-'));
const receivers = await startReceivers();
const store = await openStore({ kind: 'sqlite', path: join(folder, 'cost.db') });
const runs = await seed(store, { subscriptions: SUBSCRIPTIONS, port: receivers.port });
const host = await startHost(store);
const raw = rawLoop(receivers.port, AT_ONCE);

async function round(deliveries) {
  return {
    raw: await costOf(deliveries, () => raw.run(deliveries)),
    own: await costOf(deliveries, () => host.perSecond(runs.own, { events: deliveries, listeners: 1 })),
    shared: await costOf(deliveries, () =>
      host.perSecond(runs.shared, { events: deliveries / SUBSCRIPTIONS, listeners: SUBSCRIPTIONS }),
    ),
  };
}

async function costOf(deliveries, work) {
  const [cpu, written] = [process.cpuUsage(), bytesWritten()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { micros: (user + system) / deliveries, kilobytes: (bytesWritten() - written) / deliveries / 1024 };
}

/** Bytes that this process has passed to writes, to sockets and files alike. 0 where the kernel does not count them. */
function bytesWritten() {
  try {
    return Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

async function stop() {
  await host.stop();
  await raw.close();
  receivers.stop();
  rmSync(folder, { recursive: true, force: true });
  process.disconnect();
}

process.on('message', async ({ deliveries }) => {
  if (deliveries === undefined) await stop();
  else process.send(await round(deliveries));
});
process.send('ready');
