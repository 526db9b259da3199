import type { Clock } from '../../src/ports/clock.ts';

/** A clock that stands still until it is told to go on. */
export interface VirtualClock {
  now(): number;
  /** A clock for one host, which can be made to stand still. */
  forHost(): HostClock;
  /** Plans something of the world's own. */
  at(time: number, run: () => void): () => void;
  /** Goes to the next thing that is planned, if it is due by `until`, lets it happen, and lets everything that follows from it settle. */
  step(until: number): Promise<boolean>;
  /** The same with all that is due by `until`, and all that comes of it. */
  run(until: number): Promise<void>;
}

export interface HostClock extends Clock {
  /** From now on nothing that it had planned happens any more. */
  cut(): void;
  /** Nothing happens before `until`: the host is there and stands still, while the time goes on. */
  freeze(until: number): void;
  /** Resolves when the host does not stand still. */
  thawed(): Promise<void>;
}

interface Planned {
  readonly time: number;
  readonly order: number;
  readonly run: () => void;
}

export function virtualClock(start: number): VirtualClock {
  let time = start;
  let order = 0;
  let plans: Planned[] = [];

  const plan = (at: number, run: () => void): (() => void) => {
    const planned: Planned = { time: Math.max(at, time), order: order++, run };
    plans.push(planned);
    return () => {
      plans = plans.filter((other) => other !== planned);
    };
  };

  return {
    now: () => time,
    at: plan,
    forHost() {
      let alive = true;
      let frozenUntil = 0;
      return {
        now: () => time,
        at(at, run) {
          let cancel = plan(at, () => {
            if (!alive) return;
            if (frozenUntil > time) cancel = plan(frozenUntil, () => alive && run());
            else run();
          });
          return () => cancel();
        },
        cut() {
          alive = false;
        },
        freeze(until) {
          frozenUntil = until;
        },
        thawed: () => (frozenUntil > time ? new Promise((resolve) => plan(frozenUntil, resolve)) : Promise.resolve()),
      };
    },
    async step(until) {
      await settled();
      return await happens(takeNext(until));
    },
    async run(until) {
      await settled();
      while (await happens(takeNext(until)));
    },
  };

  async function happens(next: Planned | undefined): Promise<boolean> {
    if (next === undefined) return false;
    time = next.time;
    next.run();
    await settled();
    return true;
  }

  function takeNext(until: number): Planned | undefined {
    const [first, ...others] = plans;
    if (first === undefined) return undefined;
    const next = others.reduce((a, b) => (b.time < a.time || (b.time === a.time && b.order < a.order) ? b : a), first);
    if (next.time > until) return undefined;
    plans = plans.filter((planned) => planned !== next);
    return next;
  }
}

/** Every promise that can go on has gone on: nothing in a simulated world waits for anything real. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
