import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Chance, chance as chanceOf } from '@svc/tools/chance';
import { type PostgresServer, startPostgres } from '@svc/tools/postgres';
import { Clients } from './clients.ts';
import { diskOfHost, diskOfServer } from './disk-acts.ts';
import type { Planned } from './disturbances.ts';
import { Disturber } from './disturber.ts';
import type { Disturbance, KnownSubscription } from './evidence.ts';
import type { FakeTime } from './fake-time.ts';
import type { FaultyDisk, FaultyDisks } from './faulty-disk.ts';
import { type Hosts, hosts as hostsOf } from './hosts.ts';
import { RECEIVERS, STANDING } from './plan.ts';
import { type Receivers, startReceivers } from './receivers.ts';
import { register } from './subscriptions.ts';

export type StoreName = 'sqlite' | 'postgres';

/** All running processes of a soak, and the disturbances so far. */
export interface World {
  readonly hosts: Hosts;
  readonly receivers: Receivers;
  readonly clients: Clients;
  readonly subscriptions: readonly KnownSubscription[];
  readonly disturbances: readonly Disturbance[];
  /**
   * Performs the schedule while the clients keep working; resolves when every disturbance is over and every process is
   * up.
   */
  disturb(schedule: readonly Planned[]): Promise<void>;
  /** Returns the URL of a running host. */
  url(): string;
  /** Ends every process. */
  end(): Promise<void>;
}

export const HOST_NAMES: Readonly<Record<StoreName, readonly string[]>> = { sqlite: ['a'], postgres: ['a', 'b'] };

/** The parts of a machine that can be disturbed. Each is undefined where it cannot be. */
export interface Surroundings {
  readonly clocks: FakeTime | undefined;
  readonly disks: FaultyDisks | undefined;
}

/** Starts the store, the hosts, the receivers and the clients, in this order. */
export async function startWorld(
  store: StoreName,
  seed: number,
  folder: string,
  { clocks, disks }: Surroundings,
): Promise<World> {
  const chance = chanceOf(seed ^ 0x50a1);
  mkdirSync(folder, { recursive: true });
  const closing: (() => Promise<unknown>)[] = [];
  const end = async () => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    const hasPostgres = store === 'postgres';
    const database = hasPostgres ? join(folder, 'postgres') : join(folder, 'svc.db');
    const disk = disks?.({ folder, name: 'database', files: database, hasJournal: !hasPostgres });
    const postgres = hasPostgres ? await startPostgres({ keepIn: database, env: disk?.environment }) : undefined;
    if (postgres !== undefined) closing.push(() => postgres.stop());
    const receivers = await startReceivers(folder, RECEIVERS);
    closing.push(() => receivers.end());
    const hosts = hostsOf({
      folder,
      names: HOST_NAMES[store],
      store: postgres?.url ?? `sqlite:${database}`,
      secretKey: Buffer.from(chance.random(32)).toString('base64'),
      receiverPorts: receivers.ports,
      fakeTime: clocks,
      disk: hasPostgres ? undefined : disk,
    });
    closing.push(() => Promise.all(HOST_NAMES[store].map((_, index) => hosts.end(index, 'SIGKILL'))));
    for (let index = 0; index < hosts.count; index++) await hosts.boot(index);
    return await withClients({ postgres, receivers, hosts, database, disk, chance, end });
  } catch (error) {
    await end();
    throw error;
  }
}

interface Parts {
  readonly postgres: PostgresServer | undefined;
  readonly receivers: Receivers;
  readonly hosts: Hosts;
  /** The path of the database. */
  readonly database: string;
  readonly disk: FaultyDisk | undefined;
  readonly chance: Chance;
  readonly end: () => Promise<void>;
}

/** Registers the subscriptions and starts the clients. */
async function withClients(parts: Parts): Promise<World> {
  const { postgres, receivers, hosts, chance, end } = parts;
  const url = (): string => {
    const urls = hosts.urls();
    const chosen = urls[chance.below(urls.length)];
    if (chosen === undefined) throw new Error('No host is running at the moment.');
    return chosen;
  };
  const subscriptions: KnownSubscription[] = [];
  for (const planned of STANDING) subscriptions.push(await register(url, planned, receivers, chance, true));
  const clients = new Clients(hosts.urls, chance);
  const disturber = new Disturber({ postgres, receivers, hosts, disk: diskOf(parts), chance, url, subscriptions });
  const { disturbances } = disturber;
  return {
    hosts,
    receivers,
    clients,
    subscriptions,
    disturbances,
    disturb: (schedule) => disturber.disturb(schedule),
    url,
    end,
  };
}

function diskOf({ postgres, hosts, database, disk, chance }: Parts) {
  if (disk === undefined) return undefined;
  return postgres === undefined ? diskOfHost(hosts, database, disk, chance) : diskOfServer(postgres, disk);
}
