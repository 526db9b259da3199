import type { QuotaCounter } from '@svc/auth';
import {
  type CachedKeyStore,
  cachedKeyStore,
  judgedRecord,
  type KeyStore,
  type LastUsed,
  memoryKeyStore,
  type QuotaLedger,
  quotaLedger,
  trackLastUsed,
} from '@svc/auth/api-key';
import { factAboutKey } from '../audit/fact.ts';
import { storeUnavailable } from '../errors.ts';
import { A_STORE, requireForms, requireKnown } from '../known-options.ts';
import type { ApiKeyChange, FollowedFeed, StoredApiKey } from '../ports/api-keys.ts';
import { systemClock } from '../ports/clock.ts';
import { describeError } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import { type ConfiguredKey, importKeys } from './import.ts';
import type { KeyParts } from './key-parts.ts';

/** Options of `storedKeys`. */
export interface StoredKeysOptions {
  /** The store of the host. */
  readonly store: Store;
  /**
   * The keys of the configuration. The start of the host stores them, and revokes those that an earlier configuration had
   * and this one has not. Hosts that share a store need the same list. Default: none.
   */
  readonly configured?: readonly ConfiguredKey[];
  /** Most keys in memory, about 1 KiB each: a whole number, at least 2. Default 100 000. */
  readonly maxCachedKeys?: number;
  /** Shortest time between two writes of last uses, in ms, at least 1. Default 60 000. */
  readonly lastUsedIntervalMs?: number;
  /**
   * Time between two settlements of quotas, in ms, at least 1: unused requests of a quota that this host holds are given
   * back, and shown counts are brought up to date. Default 60 000.
   */
  readonly quotaIntervalMs?: number;
}

/** The parts of a host that its stored keys use. */
export interface StoredKeysParts extends KeyParts {
  /** Periods of quotas go by it, so that the hosts of a store agree on them. */
  readonly storeClock: Pick<StoreClock, 'now'>;
}

const STORED_KEYS_OPTIONS = {
  store: true,
  configured: true,
  maxCachedKeys: true,
  lastUsedIntervalMs: true,
  quotaIntervalMs: true,
} as const;

/** The API keys in the store of a host. Made by `storedKeys`. */
export interface StoredKeys extends KeyStore {
  /** Notes the use of a key. Pass it to `apiKeyLane`. */
  readonly onUsed: (keyId: string, time: number) => void;
  /** Counts the quotas of keys, over all hosts of the store. A guard beside the host takes it as its `quotas`. */
  readonly quotas: QuotaCounter;
  /** Imports the keys of the configuration, and follows the changes of other hosts. The host calls it in its start. */
  begin(parts: StoredKeysParts): Promise<void>;
  /**
   * Makes a committed change known. Resolves when no host of the store answers by the former record any more.
   *
   * @throws {HostError} `service_unavailable` when the store fails meanwhile. The change is stored.
   */
  settle(key: Pick<StoredApiKey, 'id' | 'hash'>): Promise<void>;
  /** Calls `listener` with the id of each changed key, on every host. */
  whenChanged(listener: (keyId: string) => void): void;
  /** Writes the last uses, gives unused requests of quotas back, and stops to follow. The host calls it in its stop. */
  end(): Promise<void>;
}

/**
 * Makes the keys in the store of a host: a `KeyStore` for `apiKeyLane`, and the option `features.apiKeys` of `createHost`.
 *
 * @throws {TypeError} for an unknown option, a malformed key of the configuration, or one that is there twice
 * @example
 * const keys = storedKeys({ store });
 * const lane = apiKeyLane({ keys, onUsed: keys.onUsed });
 * const host = createHost({ store, authenticate: [lane], apiKeys: keys, engine, secretKey, hasWorkspace });
 */
export function storedKeys(options: StoredKeysOptions): StoredKeys {
  requireKnown('storedKeys', options, STORED_KEYS_OPTIONS);
  requireForms('storedKeys', options, { store: A_STORE });
  // Refuses malformed keys and doubles before anything is stored.
  memoryKeyStore((options.configured ?? []).map(({ name: _, ...record }) => record));
  return new KeysOfStore(options);
}

class KeysOfStore implements StoredKeys {
  readonly onUsed: (keyId: string, time: number) => void;
  readonly quotas: QuotaLedger;
  readonly #store: Store;
  readonly #configured: readonly ConfiguredKey[];
  readonly #cache: CachedKeyStore;
  readonly #lastUsed: LastUsed;
  readonly #listeners: ((keyId: string) => void)[] = [];
  #parts: StoredKeysParts | undefined;
  #following: FollowedFeed | undefined;

  constructor({ store, configured = [], maxCachedKeys, lastUsedIntervalMs, quotaIntervalMs }: StoredKeysOptions) {
    this.#store = store;
    this.#configured = configured;
    const isShared = store.apiKeys.feed !== undefined;
    this.#cache = cachedKeyStore({
      load: async (hashes) => (await store.apiKeys.candidates(hashes)).map(judgedRecord),
      isCurrent: () => !isShared || this.#following?.isCurrent() === true,
      ...(maxCachedKeys !== undefined && { maxKeys: maxCachedKeys }),
    });
    this.#lastUsed = trackLastUsed({
      write: (times) => this.#writeUses(times),
      onFailure: (cause) => this.#report('keys.last-used-failed', cause),
      ...(lastUsedIntervalMs !== undefined && { intervalMs: lastUsedIntervalMs }),
    });
    this.onUsed = this.#lastUsed.note;
    this.quotas = quotaLedger({
      draw: (draws) => store.transaction((transaction) => store.apiKeys.draw(draws, transaction)),
      now: () => this.#parts?.storeClock.now() ?? systemClock.now(),
      onFailure: (cause) => this.#report('keys.quota-failed', cause),
      ...(quotaIntervalMs !== undefined && { intervalMs: quotaIntervalMs }),
    });
  }

  grantedScopes(): readonly string[] {
    return [...new Set(this.#configured.flatMap(({ scopes }) => scopes))];
  }

  candidates({ hash }: { readonly hash: string }) {
    return this.#cache.candidates({ hash });
  }

  async begin(parts: StoredKeysParts): Promise<void> {
    this.#parts = parts;
    const { clock } = parts;
    const changed = await importKeys(parts, this.#configured);
    this.#cache.forget();
    const { feed } = this.#store.apiKeys;
    if (feed === undefined) return;
    this.#following = feed.follow({
      clock,
      changed: (change) => this.#changed(change),
      failed: (cause) => this.#report('keys.feed-lost', cause),
    });
    // A key that left the configuration is refused by every host when this one is ready.
    if (changed) await feed.confirmed(clock).catch((cause: unknown) => this.#report('keys.unconfirmed', cause));
  }

  async settle({ id, hash }: Pick<StoredApiKey, 'id' | 'hash'>): Promise<void> {
    this.#changed({ id, hash });
    const { feed } = this.#store.apiKeys;
    if (feed === undefined || this.#parts === undefined) return;
    try {
      await feed.confirmed(this.#parts.clock);
    } catch (cause) {
      this.#report('keys.unconfirmed', cause);
      throw storeUnavailable();
    }
  }

  whenChanged(listener: (keyId: string) => void): void {
    this.#listeners.push(listener);
  }

  async end(): Promise<void> {
    await Promise.all([this.#lastUsed.close(), this.quotas.close()]);
    await this.#following?.stop();
  }

  #changed(change: ApiKeyChange | undefined): void {
    this.#cache.forget(change?.hash);
    if (change !== undefined) for (const listener of this.#listeners) listener(change.id);
  }

  async #writeUses(times: ReadonlyMap<string, number>): Promise<void> {
    const parts = this.#parts;
    const store = parts?.store ?? this.#store;
    const all = [...times];
    for (let from = 0; from < all.length; from += USES_AT_ONCE) {
      const some = new Map(all.slice(from, from + USES_AT_ONCE));
      await store.transaction(async (transaction) => {
        for (const key of await store.apiKeys.used(some, transaction)) {
          const fact = factAboutKey(key, { action: 'key.used-first', at: key.lastUsedAt ?? 0 });
          await parts?.recordAudit(fact, transaction);
        }
      });
    }
  }

  #report(event: string, cause: unknown): void {
    this.#parts?.log({ level: 'error', event, ...describeError(cause) });
  }
}

/** Other writers wait for a transaction, so it is short. */
const USES_AT_ONCE = 500;
