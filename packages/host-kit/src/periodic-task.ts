import type { HostPorts } from './ports/host-ports.ts';
import { describeError } from './ports/log.ts';

/**
 * Work that a host repeats beside its requests: one round at a time, the next one `everyMs` after the end of the last.
 */
export interface PeriodicTask {
  /** Begins the first round at once. */
  start(): void;
  /** Aborts the round that is under way at its next step, waits for its end, and begins no other. */
  stop(): Promise<void>;
}

export interface PeriodicTaskOptions extends Pick<HostPorts, 'clock' | 'log'> {
  /** A dotted name for the log. A failed round is logged as `<name>.failed`. */
  readonly name: string;
  /** The pause between two rounds, in ms. */
  readonly everyMs: number;
  /** Does one round in small steps, and ends between two of them when `signal` aborts. */
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
        if (!stopping.signal.aborted) cancelNext = clock.after(everyMs, begin);
      });
  }
}
