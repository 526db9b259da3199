import type { Clock } from './ports/clock.ts';
import { describeError, type Log } from './ports/log.ts';

/** Work that a host does now and then beside its requests: one round at a time, the next some time after the last. */
export interface PeriodicTask {
  /** Begins the first round at once. */
  start(): void;
  /** Ends the round that is under way at its next step, and begins no other. */
  stop(): Promise<void>;
}

export interface PeriodicTaskOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** A dotted name for the log. */
  readonly name: string;
  readonly everyMs: number;
  /** Goes by small steps, and looks at `signal` between them. */
  readonly round: (signal: AbortSignal) => Promise<void>;
}

export function periodicTask({ clock, log, name, everyMs, round }: PeriodicTaskOptions): PeriodicTask {
  const stopping = new AbortController();
  let underWay = Promise.resolve();
  let cancelNext = (): void => {};

  return {
    start: begin,
    async stop() {
      stopping.abort();
      cancelNext();
      await underWay;
    },
  };

  function begin(): void {
    underWay = round(stopping.signal)
      .catch((error: unknown) => log({ level: 'error', event: `${name}.failed`, ...describeError(error) }))
      .then(() => {
        if (!stopping.signal.aborted) cancelNext = clock.at(clock.now() + everyMs, begin);
      });
  }
}
