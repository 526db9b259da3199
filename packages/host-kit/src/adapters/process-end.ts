import { constants } from 'node:os';
import { describeError, type Log } from '../ports/log.ts';

/** The end of a process whose host listens. */
export interface ProcessEnd {
  /** From now on a signal stops the host, and no longer ends the process at once. */
  serving(stop: () => Promise<void>): void;
  /** Ends the process with the exit code 1, because the store can write nothing more. */
  lost(): void;
  /** Leaves the signals to others. */
  release(): void;
}

/**
 * Ends a process at its signals. The first one stops the host; one during the start, and a second one, end the process at
 * once, with the exit code of shells for the signal. A stop that takes longer than `withinMs`, and a process that something
 * else keeps open for as long, are ended, too.
 *
 * Each signal keeps its listener until the end: the first process of a container ignores a signal that has none.
 *
 * @param signals empty: the process is not ended
 */
export function processEnd(options: {
  readonly signals: readonly NodeJS.Signals[];
  readonly withinMs: number;
  readonly log: Log;
}): ProcessEnd {
  const { signals, withinMs, log } = options;
  let stop: (() => Promise<void>) | undefined;
  let isStopping = false;
  let isStopped = false;

  function onSignal(signal: NodeJS.Signals): void {
    log({ level: 'info', event: 'host.stopping', signal });
    if (stop === undefined || isStopping) process.exit(128 + constants.signals[signal]);
    stopWithin(withinMs, stop);
  }

  function stopWithin(ms: number, stopHost: () => Promise<void>): void {
    isStopping = true;
    // Does not keep the process open: one that nothing else keeps open has ended before.
    setTimeout(() => endLate(ms), ms).unref();
    stopHost().then(
      () => {
        isStopped = true;
      },
      (error: unknown) => {
        log({ level: 'error', event: 'host.stop-failed', ...describeError(error) });
        process.exitCode = 1;
      },
    );
  }

  function endLate(afterMs: number): never {
    if (isStopped) log({ level: 'warn', event: 'process.kept-open', afterMs, message: KEPT_OPEN });
    else log({ level: 'error', event: 'host.stop-late', afterMs });
    if (!isStopped) process.exitCode = 1;
    process.exit();
  }

  for (const signal of signals) process.on(signal, onSignal);
  return {
    serving(stopHost) {
      stop = stopHost;
    },
    lost() {
      if (signals.length === 0 || stop === undefined) return;
      // Also for a stop that a signal began before.
      process.exitCode = 1;
      stopWithin(LOST_WITHIN_MS, stop);
    },
    release() {
      if (isStopping) return;
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

/** Time for requests under way to be answered. Nothing can be stored any more. */
const LOST_WITHIN_MS = 2000;
const KEPT_OPEN =
  'The host has stopped, and something else keeps the process open. Close it when `stopped` of `listen` resolves.';
