import type { Chance } from '@svc/tools/chance';
import { RECEIVERS } from './plan.ts';
import type { Weather } from './records.ts';

/** A disturbance, and the time at which it begins, in ms from the start of the soak. */
export type Planned = { readonly at: number } & Act;

/** A disturbance. `ms` is its duration. */
export type Act =
  | { readonly kind: 'kill-host' | 'stop-host'; readonly host: number; readonly ms: number }
  | { readonly kind: 'stall-host'; readonly host: number; readonly ms: number }
  /** The clock of a host is set by `stepMs`, and back. */
  | { readonly kind: 'set-clock'; readonly host: number; readonly stepMs: number; readonly ms: number }
  | { readonly kind: 'kill-receiver'; readonly receiver: number; readonly ms: number }
  | { readonly kind: 'weather'; readonly receiver: number; readonly weather: Weather; readonly ms: number }
  | { readonly kind: 'crash-postgres'; readonly signal: 'SIGQUIT' | 'SIGKILL' }
  /** No write to the database succeeds for `ms`, or none that makes a file longer. */
  | { readonly kind: 'fill-disk'; readonly room: 'full' | 'growing'; readonly ms: number }
  /** One flush of the database fails. `ms` is the time until its process starts again. */
  | { readonly kind: 'fail-flush'; readonly ms: number }
  /** The power fails at the start of the n-th flush of the database, and is back after `ms`. */
  | { readonly kind: 'cut-power'; readonly flushes: number; readonly ms: number }
  /** A subscription is registered, and removed after `ms`. */
  | { readonly kind: 'passing'; readonly index: number; readonly ms: number }
  /** One subscription's receiver answers 410 from now on. */
  | { readonly kind: 'leaving' };

/** The processes that can be disturbed. */
export interface Deployment {
  /** The number of hosts. */
  readonly hosts: number;
  readonly hasPostgres: boolean;
  /** Whether the clocks of the hosts can be set. */
  readonly hasFakeTime: boolean;
  /** Whether the disk of the database can be made faulty. */
  readonly hasFaultyDisk: boolean;
}

/** Returns the whole schedule of a soak, which depends only on the seed. */
export function scheduled(chance: Chance, durationMs: number, deployment: Deployment): readonly Planned[] {
  const schedule: Planned[] = [{ at: Math.floor(durationMs * (0.3 + 0.4 * chance.next())), kind: 'leaving' }];
  if (deployment.hosts > 1 && chance.happens(0.5)) schedule.push(longStall(chance, durationMs, deployment));
  for (let at = 500; at < durationMs; at += 200 + chance.below(1000)) {
    schedule.push({ at, ...drawn(chance, deployment, schedule.length) });
  }
  return schedule.sort((a, b) => a.at - b.at);
}

/** Stalls a host for longer than its leases on runs and claims last, so that another host takes them over. */
function longStall(chance: Chance, durationMs: number, { hosts }: Deployment): Planned {
  return { at: chance.below(durationMs / 2), kind: 'stall-host', host: chance.below(hosts), ms: 18_000 };
}

function drawn(chance: Chance, deployment: Deployment, index: number): Act {
  const { hosts, hasPostgres, hasFakeTime, hasFaultyDisk } = deployment;
  const host = chance.below(hosts);
  const receiver = chance.below(RECEIVERS);
  const acts: readonly [weight: number, act: () => Act][] = [
    [5, () => ({ kind: 'kill-host', host, ms: chance.below(1500) })],
    [1, () => ({ kind: 'stop-host', host, ms: chance.below(500) })],
    [1, () => ({ kind: 'stall-host', host, ms: 200 + chance.below(2500) })],
    [
      hasFakeTime ? 2 : 0,
      () => ({ kind: 'set-clock', host, stepMs: chance.pick(CLOCK_STEPS), ms: 500 + chance.below(3000) }),
    ],
    [4, () => ({ kind: 'kill-receiver', receiver, ms: chance.below(1500) })],
    [5, () => ({ kind: 'weather', receiver, weather: chance.pick(WEATHERS), ms: 500 + chance.below(3000) })],
    [
      hasFaultyDisk ? 1 : 0,
      () => ({
        kind: 'fill-disk',
        room: hasPostgres ? chance.pick(['full', 'growing']) : 'full',
        ms: 500 + chance.below(2500),
      }),
    ],
    [hasFaultyDisk ? 1 : 0, () => ({ kind: 'fail-flush', ms: chance.below(1500) })],
    [
      // PostgreSQL gets the crashes of its processes instead.
      hasFaultyDisk && !hasPostgres ? 4 : 0,
      () => ({ kind: 'cut-power', flushes: 1 + chance.below(60), ms: chance.below(1000) }),
    ],
    [2, () => ({ kind: 'passing', index, ms: 200 + chance.below(4000) })],
    [hasPostgres ? 1.5 : 0, () => ({ kind: 'crash-postgres', signal: chance.pick(['SIGQUIT', 'SIGKILL']) })],
  ];
  let left = chance.next() * acts.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, act] of acts) {
    left -= weight;
    if (left < 0) return act();
  }
  return { kind: 'kill-host', host, ms: 0 };
}

const HOUR_MS = 3_600_000;
const CLOCK_STEPS = [-24 * HOUR_MS, -HOUR_MS, HOUR_MS, 24 * HOUR_MS] as const;

const WEATHERS: readonly [Weather, ...Weather[]] = ['failing', 'hang', 'cut', 'mixed'];
