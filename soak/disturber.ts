import type { Chance } from '@svc/tools/chance';
import type { PostgresServer } from '@svc/tools/postgres';
import { sleep } from './child.ts';
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
  #isPostgresBusy = false;

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
    this.#disturbances[index] = { ...disturbance, until: Date.now() };
  }

  /** Begins an act. Returns undefined when its subject is already being disturbed. */
  #begin(act: Act): { readonly subject: string; readonly done: Promise<unknown> } | undefined {
    const { hosts, receivers, postgres } = this.#options;
    switch (act.kind) {
      case 'kill-host':
      case 'stop-host':
      case 'stall-host': {
        const host = hosts.idle().includes(act.host) ? act.host : hosts.idle()[0];
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
        if (this.#isPostgresBusy || postgres === undefined) return undefined;
        return { subject: act.signal, done: this.#crash(postgres, act.signal) };
      case 'passing':
        return { subject: `passing-${act.index}`, done: this.#pass(act.index, act.ms) };
      case 'leaving':
        return { subject: 'live-leaving', done: this.#leave() };
    }
  }

  async #onHost(host: number, { kind, ms }: Extract<Act, { readonly host: number }>): Promise<void> {
    const { hosts } = this.#options;
    if (kind === 'stall-host') return hosts.stall(host, ms);
    await hosts.end(host, kind === 'kill-host' ? 'SIGKILL' : 'SIGTERM');
    await sleep(ms);
    await hosts.boot(host);
  }

  async #crash(server: PostgresServer, signal: 'SIGQUIT' | 'SIGKILL'): Promise<void> {
    this.#isPostgresBusy = true;
    await server.crash(signal);
    this.#isPostgresBusy = false;
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

const LOSING: ReadonlySet<Act['kind']> = new Set(['kill-host', 'stop-host', 'stall-host', 'crash-postgres']);
