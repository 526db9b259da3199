import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Chance, chance as chanceOf } from '@svc/tools/chance';
import { type PostgresServer, startPostgres } from '@svc/tools/postgres';
import { sleep } from './child.ts';
import { type Clients, startClients } from './clients.ts';
import type { Act, Planned } from './disturbances.ts';
import type { Disturbance, KnownSubscription } from './evidence.ts';
import { type Hosts, hosts as hostsOf } from './hosts.ts';
import { passing, RECEIVERS, STANDING } from './plan.ts';
import { type Receivers, startReceivers } from './receivers.ts';
import { register, remove } from './subscriptions.ts';

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

/** Starts the store, the hosts, the receivers and the clients, in this order. */
export async function startWorld(store: StoreName, seed: number, folder: string): Promise<World> {
  const chance = chanceOf(seed ^ 0x50a1);
  mkdirSync(folder, { recursive: true });
  const closing: (() => Promise<unknown>)[] = [];
  const end = async () => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    const postgres = store === 'postgres' ? await startPostgres({ keepIn: join(folder, 'postgres') }) : undefined;
    if (postgres !== undefined) closing.push(() => postgres.stop());
    const receivers = await startReceivers(folder, RECEIVERS);
    closing.push(() => receivers.end());
    const hosts = hostsOf({
      folder,
      names: HOST_NAMES[store],
      store: postgres?.url ?? `sqlite:${join(folder, 'svc.db')}`,
      secretKey: Buffer.from(chance.random(32)).toString('base64'),
      receiverPorts: receivers.ports,
    });
    closing.push(() => Promise.all(HOST_NAMES[store].map((_, index) => hosts.end(index, 'SIGKILL'))));
    for (let index = 0; index < hosts.count; index++) await hosts.boot(index);
    return await withClients({ postgres, receivers, hosts, chance, end });
  } catch (error) {
    await end();
    throw error;
  }
}

interface Parts {
  readonly postgres: PostgresServer | undefined;
  readonly receivers: Receivers;
  readonly hosts: Hosts;
  readonly chance: Chance;
  readonly end: () => Promise<void>;
}

/** Registers the subscriptions and starts the clients. */
async function withClients({ postgres, receivers, hosts, chance, end }: Parts): Promise<World> {
  const url = (): string => {
    const urls = hosts.urls();
    const chosen = urls[chance.below(urls.length)];
    if (chosen === undefined) throw new Error('No host is running at the moment.');
    return chosen;
  };
  const subscriptions: KnownSubscription[] = [];
  for (const planned of STANDING) subscriptions.push(await register(url, planned, receivers, chance, true));
  const clients = startClients(hosts.urls, chance);
  const disturbances: Disturbance[] = [];
  let isPostgresBusy = false;

  return { hosts, receivers, clients, subscriptions, disturbances, disturb, url, end };

  async function disturb(schedule: readonly Planned[]): Promise<void> {
    const started = Date.now();
    const acts: Promise<void>[] = [];
    for (const planned of schedule) {
      await sleep(started + planned.at - Date.now());
      acts.push(perform(planned));
    }
    await Promise.all(acts);
  }

  async function perform(act: Act): Promise<void> {
    const work = workOf(act);
    if (work === undefined) return;
    const from = Date.now();
    const disturbance = { kind: act.kind, subject: work.subject, from, losesOutcomes: LOSING.has(act.kind) };
    const index = disturbances.push({ ...disturbance, until: Number.POSITIVE_INFINITY }) - 1;
    await work.done;
    disturbances[index] = { ...disturbance, until: Date.now() };
  }

  /** Begins an act. Returns undefined when its subject is already being disturbed. */
  function workOf(act: Act): { readonly subject: string; readonly done: Promise<unknown> } | undefined {
    switch (act.kind) {
      case 'kill-host':
      case 'stop-host':
      case 'stall-host': {
        const host = hosts.idle().includes(act.host) ? act.host : hosts.idle()[0];
        return host === undefined ? undefined : { subject: `host ${host}`, done: onHost(host, act) };
      }
      case 'kill-receiver':
        if (!receivers.isUp(act.receiver)) return undefined;
        return { subject: `receiver ${act.receiver}`, done: receivers.crash(act.receiver, act.ms) };
      case 'weather':
        return {
          subject: `receiver ${act.receiver}: ${act.weather}`,
          done: receivers.weather(act.receiver, act.weather, act.ms),
        };
      case 'crash-postgres':
        if (isPostgresBusy || postgres === undefined) return undefined;
        return { subject: act.signal, done: crash(postgres, act.signal) };
      case 'passing':
        return { subject: `passing-${act.index}`, done: pass(act.index, act.ms) };
      case 'leaving':
        return { subject: 'live-leaving', done: leave() };
    }
  }

  async function onHost(host: number, { kind, ms }: Extract<Act, { readonly host: number }>): Promise<void> {
    if (kind === 'stall-host') return hosts.stall(host, ms);
    await hosts.end(host, kind === 'kill-host' ? 'SIGKILL' : 'SIGTERM');
    await sleep(ms);
    await hosts.boot(host);
  }

  async function crash(server: PostgresServer, signal: 'SIGQUIT' | 'SIGKILL'): Promise<void> {
    isPostgresBusy = true;
    await server.crash(signal);
    isPostgresBusy = false;
  }

  async function pass(index: number, ms: number): Promise<void> {
    const planned = passing(index);
    const { name, realm, events, tags } = planned;
    const registered = await register(url, planned, receivers, chance, false).catch(() => undefined);
    // When the response was lost the subscription may exist; it then stays to the end.
    const known = registered ?? { name, webhookId: undefined, realm, durable: true, events, tags, isStanding: false };
    const at = subscriptions.push(known) - 1;
    if (registered === undefined) return;
    await sleep(ms);
    subscriptions[at] = { ...registered, removedAt: await remove(url, registered) };
  }

  async function leave(): Promise<void> {
    receivers.answerWith('live-leaving', 410);
  }
}

const LOSING: ReadonlySet<Act['kind']> = new Set(['kill-host', 'stop-host', 'stall-host', 'crash-postgres']);
