import { createHash } from 'node:crypto';
import type { Principal } from '@svc/auth';
import type { Major } from '@svc/versioning';
import { sleep } from '../ports/clock.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { describeError } from '../ports/log.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import { compareUses, type VersionUse } from '../ports/version-uses.ts';

export interface UseCounterOptions extends Pick<HostPorts, 'clock' | 'log'> {
  readonly store: Pick<HostPorts['store'], 'transaction' | 'versionUses'>;
  /** Days go by it, so that the hosts of a store agree on them. */
  readonly storeClock: Pick<StoreClock, 'now'>;
  /** Called with each request that is noted. */
  readonly counted: (major: Major, lane: string) => void;
}

/** The caller of a request. */
export type UsingCaller = Pick<Principal, 'lane' | 'credentialId' | 'tenancy'>;

/**
 * Counts the requests of each credential under each major, in memory, and writes the counts every {@link FLUSH_MS}. A
 * request never waits for it. The counts of these seconds are lost when the process is killed. A write whose outcome is
 * unknown may be counted twice.
 *
 * Memory and rows are bounded: {@link MOST_OF_TENANT} credentials of one tenant, and {@link MOST_CREDENTIALS} of all, are
 * told apart on one day under one major. The requests of further credentials are counted under {@link OVERFLOW}.
 */
export interface UseCounter {
  /** Counts one request, without waiting. */
  note(caller: UsingCaller, major: Major): void;
  /** Returns the number of requests that this process could not count since its start, because writes failed for long. */
  lost(): number;
  /** Writes the counts now. A failed write is logged, and repeated later. */
  flush(): Promise<void>;
  /** Writes the counts for the last time, and waits at most {@link END_MS} for it. Later requests are not counted. */
  end(): Promise<void>;
}

/** The lane and the id under which the requests of further credentials are counted. */
export const OVERFLOW = 'overflow';
export const FLUSH_MS = 10_000;
export const END_MS = 5000;
export const MOST_OF_TENANT = 5000;
const MOST_CREDENTIALS = 50_000;
/** Counts that wait for a write. More are possible only while the store fails. */
export const MOST_WAITING = 200_000;
/** Other writers wait for a transaction, so it is short. */
const USES_AT_ONCE = 500;

export function useCounter(options: UseCounterOptions): UseCounter {
  return new CounterOfUses(options);
}

class CounterOfUses implements UseCounter {
  readonly #options: UseCounterOptions;
  readonly #known: Readonly<Record<Major, KnownCredentials>> = { 1: new KnownCredentials(), 2: new KnownCredentials() };
  #waiting = new Map<string, VersionUse>();
  #lost = 0;
  #ended = false;
  #cancelTimer: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: UseCounterOptions) {
    this.#options = options;
  }

  note({ lane, credentialId, tenancy }: UsingCaller, major: Major): void {
    this.#options.counted(major, lane);
    if (this.#ended) return;
    const lastAt = this.#options.storeClock.now();
    const day = Math.floor(lastAt / DAY_MS) * DAY_MS;
    const tenant = plainText(tenancy.tenant);
    const named = ONE_TIME_LANES.has(lane)
      ? { lane, credential: lane }
      : { lane: plainText(lane), credential: plainText(credentialId) };
    const isKnown = this.#known[major].admit(day, `${tenancy.mode} ${tenant}`, `${named.lane} ${named.credential}`);
    const name = isKnown ? named : { lane: OVERFLOW, credential: OVERFLOW };
    this.#add({ tenant, mode: tenancy.mode, major, ...name, day, requests: 1, lastAt });
    if (this.#waiting.size > 0) this.#arm();
  }

  lost(): number {
    return this.#lost;
  }

  flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async end(): Promise<void> {
    this.#ended = true;
    const written = new AbortController();
    const late = sleep(this.#options.clock, END_MS, written.signal).catch(() => {});
    await Promise.race([this.flush(), late]);
    written.abort();
    this.#cancelTimer?.();
  }

  #arm(): void {
    if (this.#ended) return;
    this.#cancelTimer ??= this.#options.clock.after(FLUSH_MS, () => void this.flush());
  }

  #add(use: VersionUse): void {
    const { tenant, mode, major, lane, credential, day, requests, lastAt } = use;
    const key = JSON.stringify([tenant, mode, major, lane, credential, day]);
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) {
      const sum = { requests: waiting.requests + requests, lastAt: Math.max(waiting.lastAt, lastAt) };
      this.#waiting.set(key, { ...waiting, ...sum });
    } else if (this.#waiting.size < MOST_WAITING) this.#waiting.set(key, use);
    else this.#lost += requests;
  }

  /** Never rejects. The counts of the first failed transaction, and all after it, wait for the next write. */
  async #write(): Promise<void> {
    const { store, log } = this.#options;
    const uses = [...this.#waiting.values()].sort(compareUses);
    this.#waiting = new Map();
    for (let from = 0; from < uses.length; from += USES_AT_ONCE) {
      try {
        const some = uses.slice(from, from + USES_AT_ONCE);
        await store.transaction((transaction) => store.versionUses.add(some, transaction));
      } catch (error) {
        log({ level: 'error', event: 'version-uses.failed', ...describeError(error) });
        for (const use of uses.slice(from)) this.#add(use);
        this.#arm();
        return;
      }
    }
  }
}

/** The credentials of one day that are told apart. */
class KnownCredentials {
  #day = Number.NEGATIVE_INFINITY;
  #size = 0;
  readonly #ofTenant = new Map<string, Set<string>>();

  /** Returns whether a credential is told apart. */
  admit(day: number, tenant: string, credential: string): boolean {
    // Another day, also an earlier one: after a clock that was ahead is set back, its day would never end.
    if (day !== this.#day) {
      this.#day = day;
      this.#size = 0;
      this.#ofTenant.clear();
    }
    const known = this.#ofTenant.get(tenant);
    if (known?.has(credential)) return true;
    if (this.#size >= MOST_CREDENTIALS || (known?.size ?? 0) >= MOST_OF_TENANT) return false;
    if (known === undefined) this.#ofTenant.set(tenant, new Set([credential]));
    else known.add(credential);
    this.#size += 1;
    return true;
  }
}

/** The lanes whose callers get an id for one session or one question. They are counted together. */
const ONE_TIME_LANES: ReadonlySet<string> = new Set(['anonymous', 'interrupt-token']);

const DAY_MS = 86_400_000;

/**
 * Returns a name that every store accepts. A lane of the host's own may give any text: a long one, or one with control
 * characters, is replaced by its digest.
 */
function plainText(text: string): string {
  const isShort = text.length <= LONGEST_NAME && Buffer.byteLength(text) <= MOST_BYTES;
  if (text.length > 0 && isShort && !/\p{C}/u.test(text)) return text;
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

const LONGEST_NAME = 512;
/** Three such names are a key of the table, and PostgreSQL fails on one of more than 2704 bytes. */
const MOST_BYTES = 800;
