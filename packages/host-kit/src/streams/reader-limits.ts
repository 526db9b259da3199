import { AuthError } from '@svc/auth';
import { HostError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';

/** How many readers there may be at a time: streams, and polls that wait. */
export interface ReaderLimits {
  readonly perRun: number;
  readonly perCredential: number;
  readonly total: number;
}

/** Who reads what. */
export interface Reader {
  readonly runId: string;
  readonly credentialId: string;
}

export interface ReaderLimiter {
  /**
   * Takes a place for a reader.
   *
   * @param leave called when the host stops: the reader is to end, and to give its place back
   * @returns gives the place back; more than once is once
   * @throws {AuthError} `rate_limited` when there is none left
   * @throws {HostError} `service_unavailable` when the host is stopping
   */
  take(reader: Reader, leave: () => void): () => void;
  /** How many are taken. */
  taken(): number;
  /** Gives out no more places, and asks every reader to leave. */
  close(): void;
  /** Resolves when the last reader has left, or after `graceMs`. */
  empty(graceMs: number): Promise<void>;
}

export function readerLimiter(limits: ReaderLimits, clock: Clock): ReaderLimiter {
  const leaving = new Set<() => void>();
  const taken = { perRun: new Map<string, number>(), perCredential: new Map<string, number>() };
  let isClosed = false;
  let emptied = (): void => {};

  return {
    take({ runId, credentialId }, leave) {
      if (isClosed) throw stopping();
      require('perRun', runId, 'This run has as many readers as it may have.');
      require('perCredential', credentialId, 'This credential has as many streams and waiting polls as it may have.');
      if (leaving.size >= limits.total)
        throw full(limits.total, leaving.size, 'This host has as many readers as it takes.');
      count('perRun', runId, 1);
      count('perCredential', credentialId, 1);
      // A function of its own, as two readers may share one.
      const go = () => leave();
      leaving.add(go);
      return () => {
        if (!leaving.delete(go)) return;
        count('perRun', runId, -1);
        count('perCredential', credentialId, -1);
        if (leaving.size === 0) emptied();
      };
    },
    taken: () => leaving.size,
    close() {
      isClosed = true;
      for (const leave of [...leaving]) leave();
    },
    empty(graceMs) {
      return new Promise((resolve) => {
        if (leaving.size === 0) return resolve();
        const cancel = clock.at(clock.now() + graceMs, resolve);
        emptied = () => {
          cancel();
          resolve();
        };
      });
    },
  };

  function require(by: 'perRun' | 'perCredential', key: string, message: string): void {
    const current = taken[by].get(key) ?? 0;
    if (current >= limits[by]) throw full(limits[by], current, message);
  }

  function count(by: 'perRun' | 'perCredential', key: string, change: number): void {
    const counted = (taken[by].get(key) ?? 0) + change;
    if (counted === 0) taken[by].delete(key);
    else taken[by].set(key, counted);
  }
}

function full(limit: number, current: number, message: string): AuthError<'rate_limited'> {
  const details = { window: RETRY_AFTER_SECONDS, limit, current, retryAfterSeconds: RETRY_AFTER_SECONDS };
  return new AuthError('rate_limited', `${message} End one of them, or try again later.`, details);
}

function stopping(): HostError<'service_unavailable'> {
  return new HostError('service_unavailable', 'The host is stopping. Try again.', {
    details: undefined,
    headers: { 'retry-after': '1' },
  });
}

/** Readers come and go; there is no time at which a place becomes free. */
const RETRY_AFTER_SECONDS = 5;
