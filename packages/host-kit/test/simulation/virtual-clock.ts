import type { Clock } from '../../src/ports/clock.ts';

/** A clock that stands still until a test moves it. */
export interface VirtualClock extends Clock {
  /**
   * A clock for one host, which can be frozen and set.
   *
   * @param aheadMs by how much its time of the day is ahead of that of the world; default 0
   */
  forHost(aheadMs?: number): HostClock;
  /** Plans an event of the world itself, by its `now`. */
  at(time: number, run: () => void): () => void;
  /**
   * Moves to the next planned event if it is due by `until`, runs it, and waits until all that follows from it has
   * settled.
   */
  step(until: number): Promise<boolean>;
  /** Does so with every event that is due by `until`, including those that are planned meanwhile. */
  run(until: number): Promise<void>;
}

export interface HostClock extends Clock {
  /** Sets the time of the day by `ms`, as an operator or a time server does. The monotonic time goes on. */
  set(ms: number): void;
  /** Cancels all timers of the host, and every later one. */
  cut(): void;
  /** Delays all timers of the host until `until`, as if its process stood still while the time goes on. */
  freeze(until: number): void;
  /** Resolves when the host is not frozen. */
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

  // Differs from the time of the day and from other hosts, so that code which confuses the clocks fails a test.
  const monotonic = (): number => time - start + 7_000_000;

  return {
    now: () => time,
    monotonic,
    after: (ms, run) => plan(time + ms, run),
    at: plan,
    forHost(aheadMs = 0) {
      let alive = true;
      let frozenUntil = 0;
      let setBy = aheadMs;
      return {
        now: () => time + setBy,
        monotonic,
        set(ms) {
          setBy += ms;
        },
        after(ms, run) {
          let cancel = plan(time + ms, () => {
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

/** Resolves when every promise has settled that can: nothing in a simulated world waits for real timers or sockets. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
