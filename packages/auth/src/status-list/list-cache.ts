import { withinTime } from '../deadline.ts';
import type { Algorithm } from '../jwt/algorithms.ts';
import { boundedBytes } from '../jwt/bounded-bytes.ts';
import type { KeySource } from '../jwt/key-set.ts';
import type { KeyFetch } from '../jwt/remote-keys.ts';
import { listTextLimit, type StatusList, statusList } from './list-token.ts';

/** The issuer, its keys, and the bounds of a {@link ListCache}. */
export interface ListCacheOptions {
  readonly issuer: string;
  readonly keys: KeySource;
  readonly algorithms: readonly Algorithm[];
  readonly clockSkewSeconds: number;
  readonly fetch: KeyFetch;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Longest use of a list after its fetch, in milliseconds. */
  readonly maxAgeMs: number;
  readonly maxListBytes: number;
  readonly maxLists: number;
  readonly timeoutMs: number;
}

/**
 * Fetches the lists of an issuer, and remembers each for a short time. Callers that need the same list share one fetch. A
 * list in use is fetched again in the background at 80 % of its time. After a failed fetch, the list is fetched again at
 * most every 5 s. The least recently used list goes first.
 */
export class ListCache {
  readonly #options: ListCacheOptions;
  readonly #lists = new Map<string, Fetched>();
  readonly #pending = new Map<string, Promise<StatusList>>();
  readonly #failures = new Map<string, Failure>();

  constructor(options: ListCacheOptions) {
    this.#options = options;
  }

  /** Returns a list that is in memory and not too old. */
  known(uri: string): StatusList | undefined {
    const found = this.#lists.get(uri);
    if (found === undefined) return undefined;
    const time = this.#options.now();
    // After the clock was set back a list counts as old, never as young. Negated for a clock that returns NaN.
    if (!(time >= found.at && time < found.until)) return undefined;
    // The last one of a map is its most recently used one.
    this.#lists.delete(uri);
    this.#lists.set(uri, found);
    if (time - found.at > (found.until - found.at) * 0.8 && this.#failure(uri) === undefined)
      this.#fetched(uri).catch(() => {});
    return found.list;
  }

  /**
   * Returns a list that is not too old.
   *
   * @throws {Error} when no such list is to be had
   */
  async find(uri: string): Promise<StatusList> {
    const known = this.known(uri);
    if (known !== undefined) return known;
    const failure = this.#failure(uri);
    if (failure !== undefined) throw failure.cause;
    return await this.#fetched(uri);
  }

  /** Returns whether a list was fetched in the last 5 s, so that another fetch would tell no more. */
  isFresh(uri: string): boolean {
    const at = this.#lists.get(uri)?.at;
    const age = at === undefined ? Number.NaN : this.#options.now() - at;
    return age >= 0 && age < COOL_DOWN_MS;
  }

  /**
   * Returns a list that is fresh: the issuer may have made it longer since.
   *
   * @throws {Error} when no such list is to be had
   */
  async renewed(uri: string): Promise<StatusList> {
    if (this.isFresh(uri)) return await this.find(uri);
    const failure = this.#failure(uri);
    if (failure !== undefined) throw failure.cause;
    return await this.#fetched(uri);
  }

  #fetched(uri: string): Promise<StatusList> {
    const pending = this.#pending.get(uri);
    if (pending !== undefined) return pending;
    if (this.#pending.size >= this.#options.maxLists)
      return Promise.reject(new Error(`${this.#options.maxLists} status lists are being fetched already.`));
    const fetched = this.#fetchList(uri).finally(() => this.#pending.delete(uri));
    this.#pending.set(uri, fetched);
    return fetched;
  }

  async #fetchList(uri: string): Promise<StatusList> {
    const { now, timeoutMs, maxAgeMs, maxLists } = this.#options;
    // Counted from the request: the status may change while the answer is on its way.
    const at = now();
    try {
      const list = await withinTime('The status list', timeoutMs, this.#load(uri));
      const before = this.#lists.get(uri);
      // A cache in between may answer with a list of before a revocation that this host has seen.
      if (before !== undefined && list.issuedAt < before.list.issuedAt)
        throw new Error('The list is older (iat) than the one before it.');
      makeRoom(this.#lists, uri, maxLists);
      this.#lists.set(uri, { list, at, until: Math.min(at + Math.min(maxAgeMs, list.ttlMs), list.expiresAt) });
      this.#failures.delete(uri);
      return list;
    } catch (error) {
      const problem = error instanceof Error ? error.message : typeof error;
      // For the log of the operator, who may have several issuers.
      const cause = new Error(`The status list ${uri} cannot be used. ${problem}`, { cause: error });
      makeRoom(this.#failures, uri, maxLists);
      this.#failures.set(uri, { cause, at: now() });
      throw cause;
    }
  }

  async #load(uri: string): Promise<StatusList> {
    const { fetch, timeoutMs, maxListBytes, now, ...rules } = this.#options;
    const response = await fetch(uri, {
      headers: { accept: 'application/statuslist+jwt' },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`The issuer answered with status ${response.status}.`);
    }
    const text = ASCII.decode(await boundedBytes(response, listTextLimit(maxListBytes))).trim();
    return await statusList(text, { ...rules, uri, now: now(), maxBytes: maxListBytes });
  }

  /** Returns the last failure while it forbids another fetch. */
  #failure(uri: string): Failure | undefined {
    const failure = this.#failures.get(uri);
    const age = failure === undefined ? Number.NaN : this.#options.now() - failure.at;
    return age >= 0 && age < COOL_DOWN_MS ? failure : undefined;
  }
}

interface Fetched {
  readonly list: StatusList;
  /** The time of the request in milliseconds since the epoch. */
  readonly at: number;
  /** The time from which on the list is not used any more. */
  readonly until: number;
}

interface Failure {
  readonly cause: unknown;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Removes the first entry of a full map, unless the name is there already. The name then becomes the last one. */
function makeRoom(map: Map<string, unknown>, name: string, most: number): void {
  map.delete(name);
  const [oldest] = map.keys();
  if (map.size >= most && oldest !== undefined) map.delete(oldest);
}

const ASCII = new TextDecoder();
const COOL_DOWN_MS = 5000;
