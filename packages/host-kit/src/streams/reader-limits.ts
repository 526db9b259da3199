import { AuthError } from '@svc/auth';
import { HostError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';

/** Limits of concurrent readers: streams, and polls that wait. */
export interface ReaderLimits {
  /** Readers of one run. */
  readonly perRun: number;
  /** Readers with one credential, over all runs. */
  readonly perCredential: number;
  /** Readers of the host. Anonymous callers take half of these places at most. */
  readonly total: number;
}

/** A reader, as it counts against the limits. */
export interface Reader {
  /** Absent: it reads the events of all runs. */
  readonly runId?: string;
  readonly credentialId: string;
  /** The tenant of its caller. Absent: it is judged at a change of any tenant. */
  readonly tenant?: string;
  /** True: the caller has no credential of the host. Default: false. */
  readonly isAnonymous?: boolean;
}

export interface ReaderLimiter {
  /**
   * Takes a place for a reader.
   *
   * @param leave called when the host stops; the reader then ends and gives its place back
   * @param judge called when the credential of the reader was changed. Default: `leave`
   * @returns gives the place back; further calls do nothing
   * @throws {AuthError} `rate_limited` when a limit is reached
   * @throws {HostError} `service_unavailable` when the host is stopping
   */
  take(reader: Reader, leave: () => void, judge?: () => void): () => void;
  /** The number of places that are taken. */
  taken(): number;
  /** Asks every reader with this credential to judge it again, or to leave. */
  judge(credentialId: string): void;
  /** Asks every reader of a tenant to judge its credential again, or to leave; undefined: every reader. */
  judgeTenant(tenant: string | undefined): void;
  /** Asks every reader to leave. From now on `take` throws. */
  close(): void;
  /** Resolves when the last reader has left, at the latest after `graceMs` ms. */
  empty(graceMs: number): Promise<void>;
}

export function readerLimiter(limits: ReaderLimits, clock: Clock): ReaderLimiter {
  const leaving = new Set<() => void>();
  const judges = new Map<() => void, { readonly reader: Reader; readonly judge: () => void }>();
  const taken = { perRun: new Map<string, number>(), perCredential: new Map<string, number>() };
  let anonymous = 0;
  let isClosed = false;
  let emptied = (): void => {};

  return {
    take(reader, leave, judge = leave) {
      const { runId, credentialId, isAnonymous = false } = reader;
      if (isClosed) throw stopping();
      if (runId !== undefined) require('perRun', runId, 'This run has reached its limit of readers.');
      require('perCredential', credentialId, 'This credential has reached its limit of streams and waiting polls.');
      if (leaving.size >= limits.total)
        throw full(limits.total, leaving.size, 'This host has reached its limit of readers.');
      // Sessions cost nothing, so a limit of each would not keep their places from the callers with a credential.
      if (isAnonymous && anonymous >= limits.total / 2)
        throw full(Math.ceil(limits.total / 2), anonymous, 'This host has reached its limit of anonymous readers.');
      if (runId !== undefined) count('perRun', runId, 1);
      count('perCredential', credentialId, 1);
      if (isAnonymous) anonymous++;
      // A new function for each reader: two that pass the same callback would share one entry of the set.
      const go = () => leave();
      leaving.add(go);
      judges.set(go, { reader, judge });
      return () => {
        if (!leaving.delete(go)) return;
        judges.delete(go);
        if (runId !== undefined) count('perRun', runId, -1);
        count('perCredential', credentialId, -1);
        if (isAnonymous) anonymous--;
        if (leaving.size === 0) emptied();
      };
    },
    judge(changed) {
      for (const { reader, judge } of [...judges.values()]) if (reader.credentialId === changed) judge();
    },
    judgeTenant(changed) {
      for (const { reader, judge } of [...judges.values()]) {
        if (changed === undefined || reader.tenant === undefined || reader.tenant === changed) judge();
      }
    },
    taken: () => leaving.size,
    close() {
      isClosed = true;
      for (const leave of [...leaving]) leave();
    },
    empty(graceMs) {
      return new Promise((resolve) => {
        if (leaving.size === 0) return resolve();
        const cancel = clock.after(graceMs, resolve);
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

/** An estimate: the host cannot know when a place becomes free. */
const RETRY_AFTER_SECONDS = 5;
