/** Calls a function after so many milliseconds, and returns a function that cancels the call. */
export type After = (ms: number, run: () => void) => () => void;

/** Waits by the timers of the runtime, which are monotonic. On Node, no wait keeps the process alive. */
export const afterTimeout: After = (ms, run) => {
  const timer = setTimeout(run, ms);
  if (isUnrefable(timer)) timer.unref();
  return () => clearTimeout(timer);
};

function isUnrefable(timer: unknown): timer is { unref(): void } {
  return typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function';
}
