// Measures what deliveries cost a host, as a process of its own: `node delivery-cost.mjs STORE`. The parent sends the number
// of deliveries of a round, and gets for each the microseconds of processor time, those of PostgreSQL, and the kilobytes that
// the host has written: of a POST of the undici loop, of events that one subscription hears of, and of events that all hear of.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv } from 'node:process';
import { startPostgres } from '../../tools/postgres.ts';
import { AT_ONCE, seed, startHost } from './delivering-host.mjs';
import { postgresCpu } from './postgres-cpu.mjs';
import { rawLoop, startReceivers } from './receivers.mjs';
import { openStore } from './stores.mjs';

const SUBSCRIPTIONS = 100;
const folder = mkdtempSync(join(tmpdir(), 'svc-cost-'));
const receivers = await startReceivers();
const postgres = argv[2] === 'postgres' ? await startPostgres({ flushes: true }) : undefined;
const databaseCpu = postgres === undefined ? () => 0 : await postgresCpu(postgres.url);
const place =
  postgres === undefined
    ? { kind: 'sqlite', path: join(folder, 'cost.db') }
    : { kind: 'postgres', url: postgres.url, schema: 'svc_cost' };
const store = await openStore(place);
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
  const [cpu, database, written] = [process.cpuUsage(), databaseCpu(), bytesWritten()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return {
    micros: (user + system) / deliveries,
    database: (databaseCpu() - database) / deliveries,
    kilobytes: (bytesWritten() - written) / deliveries / 1024,
  };
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
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
  process.disconnect();
}

process.on('message', async ({ deliveries }) => {
  if (deliveries === undefined) await stop();
  else process.send(await round(deliveries));
});
process.send('ready');
