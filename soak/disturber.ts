import type { Chance } from '@svc/tools/chance';
import type { PostgresServer } from '@svc/tools/postgres';
import { sleep } from './child.ts';
import type { DiskActs, Effects } from './disk-acts.ts';
import type { Act, Planned } from './disturbances.ts';
import type { Disturbance, KnownSubscription } from './evidence.ts';
import type { Hosts } from './hosts.ts';
import { passing } from './plan.ts';
import type { Receivers } from './receivers.ts';
import { register, remove } from './subscriptions.ts';

/** The processes that a {@link Disturber} disturbs. */
export interface DisturberOptions {
  readonly postgres: PostgresServer | undefined;
  readonly receivers: Receivers;
  readonly hosts: Hosts;
  /** The disk of the database. Undefined: it cannot be made faulty. */
  readonly disk: DiskActs | undefined;
  readonly chance: Chance;
  /** Returns the URL of a running host. */
  readonly url: () => string;
  /** Gets the subscriptions that are registered during the soak. */
  readonly subscriptions: KnownSubscription[];
}

/** Performs the schedule of a soak, and records every disturbance. */
export class Disturber {
  readonly #options: DisturberOptions;
  readonly #disturbances: Disturbance[] = [];
  #isDatabaseBusy = false;
  /** The number of hosts whose clock is set, or was set while runs fell asleep that still sleep. */
  #clocksSet = 0;

  constructor(options: DisturberOptions) {
    this.#options = options;
  }

  /** The disturbances so far. One that is not over has an infinite `until`. */
  get disturbances(): readonly Disturbance[] {
    return this.#disturbances;
  }

  /** Performs each act at its time; resolves when every act is over and every process is up. */
  async disturb(schedule: readonly Planned[]): Promise<void> {
    const started = Date.now();
    const acts: Promise<void>[] = [];
    for (const planned of schedule) {
      await sleep(started + planned.at - Date.now());
      acts.push(this.#perform(planned));
    }
    await Promise.all(acts);
  }

  async #perform(act: Act): Promise<void> {
    const work = this.#begin(act);
    if (work === undefined) return;
    const from = Date.now();
    const disturbance = { kind: act.kind, subject: work.subject, from, losesOutcomes: LOSING.has(act.kind) };
    const index = this.#disturbances.push({ ...disturbance, until: Number.POSITIVE_INFINITY }) - 1;
    await work.done;
    const effects = await work.effects;
    this.#disturbances[index] = { ...disturbance, until: Date.now(), ...(effects !== undefined && { effects }) };
  }

  /** Begins an act. Returns undefined when its subject is already being disturbed. */
  #begin(
    act: Act,
  ): { readonly subject: string; readonly done: Promise<unknown>; readonly effects?: Promise<Effects> } | undefined {
    const { hosts, receivers, postgres } = this.#options;
    switch (act.kind) {
      case 'kill-host':
      case 'stop-host':
      case 'stall-host':
      case 'set-clock': {
        const host = hosts.idle().includes(act.host) ? act.host : hosts.idle()[0];
        // See #clocksSet.
        if (act.kind === 'set-clock' && this.#isDatabaseBusy) return undefined;
        return host === undefined ? undefined : { subject: `host ${host}`, done: this.#onHost(host, act) };
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
        if (postgres === undefined || !this.#isDatabaseIdle()) return undefined;
        return { subject: act.signal, done: this.#onDatabase(() => postgres.crash(act.signal)) };
      case 'fill-disk':
      case 'fail-flush':
      case 'cut-power': {
        const { disk } = this.#options;
        if (disk === undefined || !disk.isIdle() || !this.#isDatabaseIdle()) return undefined;
        const effects = this.#onDatabase(() => onDisk(disk, act));
        return { subject: disk.subject, done: effects, effects };
      }
      case 'passing':
        return { subject: `passing-${act.index}`, done: this.#pass(act.index, act.ms) };
      case 'leaving':
        return { subject: 'live-leaving', done: this.#leave() };
    }
  }

  async #onHost(host: number, act: Extract<Act, { readonly host: number }>): Promise<void> {
    const { hosts } = this.#options;
    const { kind, ms } = act;
    if (kind === 'stall-host') return hosts.stall(host, ms);
    if (kind === 'set-clock') {
      this.#clocksSet += 1;
      await hosts.setClock(host, act.stepMs, ms);
      this.#clocksSet -= 1;
      return;
    }
    await hosts.end(host, kind === 'kill-host' ? 'SIGKILL' : 'SIGTERM');
    await sleep(ms);
    await hosts.boot(host);
  }

  #isDatabaseIdle(): boolean {
    return !this.#isDatabaseBusy && this.#clocksSet === 0;
  }

  async #onDatabase<T>(work: () => Promise<T>): Promise<T> {
    this.#isDatabaseBusy = true;
    const done = await work();
    this.#isDatabaseBusy = false;
    return done;
  }

  async #pass(index: number, ms: number): Promise<void> {
    const { url, receivers, chance, subscriptions } = this.#options;
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

  async #leave(): Promise<void> {
    this.#options.receivers.answerWith('live-leaving', 410);
  }
}

async function onDisk(
  disk: DiskActs,
  act: Extract<Act, { readonly kind: 'fill-disk' | 'fail-flush' | 'cut-power' }>,
): Promise<Effects> {
  if (act.kind === 'fill-disk') return disk.fill(act.room, act.ms);
  if (act.kind === 'fail-flush') return disk.failFlush(act.ms);
  return disk.cutPower?.(act.flushes, act.ms) ?? {};
}

const LOSING: ReadonlySet<Act['kind']> = new Set([
  'kill-host',
  'stop-host',
  'stall-host',
  'crash-postgres',
  'fill-disk',
  'fail-flush',
  'cut-power',
]);
