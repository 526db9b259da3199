/** Settles as `work` does, or resolves when `signal` aborts before. */
export function settledOrAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => resolve();
    const settle = (end: () => void): void => {
      signal.removeEventListener('abort', abort);
      end();
    };
    work.then(
      () => settle(resolve),
      (error: unknown) => settle(() => reject(error)),
    );
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
