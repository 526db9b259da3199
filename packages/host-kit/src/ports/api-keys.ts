import type { Tenancy } from '@svc/auth';
import type { ApiKeyState, QuotaCount, QuotaDraw, QuotaGrant, StoredApiKey } from '@svc/auth/api-key';
import type { Clock } from './clock.ts';
import type { Transaction } from './transaction.ts';

export type { ApiKeyState, QuotaCount, QuotaDraw, QuotaGrant, StoredApiKey } from '@svc/auth/api-key';

/** A page of keys. */
export interface ApiKeyPage {
  /** The id after which the page begins. `''`: the first page. */
  readonly after: string;
  /** The most keys of the page. */
  readonly limit: number;
  /** Keys in this state alone, at the time `now` in ms since the epoch. Default: keys in every state. */
  readonly state?: ApiKeyState | undefined;
  /** Keys of this principal alone. Default: of every principal. */
  readonly principal?: string | undefined;
  readonly now: number;
}

/** The API keys of all tenants. No key itself is stored, only its hash. */
export interface ApiKeyStore {
  /** Adds a key. Returns false, and adds nothing, when its id or its hash is taken. */
  add(key: StoredApiKey, transaction: Transaction): Promise<boolean>;
  /** Reads a key of any tenant. Until the transaction ends, no other one that reads the same key so goes on. */
  readForChange(id: string, transaction: Transaction): Promise<StoredApiKey | undefined>;
  /**
   * Replaces the key of the same id, without its last use. Hosts that follow the feed learn of it when the transaction
   * commits.
   */
  replace(key: StoredApiKey, transaction: Transaction): Promise<void>;
  /** Deletes a key, so that its hash is free. Hosts that follow the feed learn of it when the transaction commits. */
  remove(id: string, transaction: Transaction): Promise<void>;
  /** Returns the keys whose hashes begin with the same 16 characters as one of these, at most 256. */
  candidates(hashes: readonly string[]): Promise<readonly StoredApiKey[]>;
  /** Returns a key of the tenant and the mode, if all of its workspaces are reached. */
  find(tenancy: Tenancy, id: string): Promise<StoredApiKey | undefined>;
  /** Returns keys of the tenant and the mode whose workspaces are all reached, by ascending id. */
  list(tenancy: Tenancy, page: ApiKeyPage): Promise<readonly StoredApiKey[]>;
  /** Returns every key that was imported from a configuration, of all tenants. For the import. */
  configured(): Promise<readonly StoredApiKey[]>;
  /**
   * Sets the last use of keys, in ms since the epoch, where it is later than the stored one. Returns the keys that had no
   * use before.
   */
  used(times: ReadonlyMap<string, number>, transaction: Transaction): Promise<readonly StoredApiKey[]>;
  /** Returns up to `limit` keys that expired by `now` and are not noted. */
  unnotedExpiries(now: number, limit: number): Promise<readonly StoredApiKey[]>;
  /** Notes that the expiry of a key was recorded. Returns false when it was noted before, or the key changed since. */
  noteExpiry(key: StoredApiKey, transaction: Transaction): Promise<boolean>;
  /**
   * Carries out draws on the counts of quotas, each by `drawn` of `@svc/auth/api-key`, and in their order. An account may be
   * there twice. Until the transaction ends, no other one draws on the same accounts. Returns one grant for each draw.
   */
  draw(draws: readonly QuotaDraw[], transaction: Transaction): Promise<readonly QuotaGrant[]>;
  /** Returns the stored counts of accounts, by their names. An account on which no host has drawn has none. */
  quotaCounts(accounts: readonly string[]): Promise<ReadonlyMap<string, QuotaCount>>;
  /**
   * Deletes up to `limit` counts whose periods began before `before`, and returns their number. A count on which a transaction
   * draws at the same time is left for the next sweep.
   */
  sweepCounts(before: QuotaHorizon, limit: number): Promise<number>;
  /** The feed of changes. Absent: the store belongs to one process. */
  readonly feed?: ApiKeyFeed;
}

/** The beginnings of periods, in ms since the epoch, by their kind. */
export type QuotaHorizon = Readonly<Record<QuotaCount['period'], number>>;

/** A changed key. */
export interface ApiKeyChange {
  readonly id: string;
  /** The first 16 characters of its hash. */
  readonly hash: string;
}

/**
 * Tells the hosts of a shared store of changed keys. A host that follows it holds a lease; it must not answer from memory
 * when its lease has ended.
 */
export interface ApiKeyFeed {
  /** Begins to follow. */
  follow(options: FollowOptions): FollowedFeed;
  /**
   * Resolves when every change that was committed before the call is known to all hosts that hold a lease.
   *
   * @throws {Error} when the store fails, or a host neither confirms nor loses its lease in time
   */
  confirmed(clock: Clock): Promise<void>;
}

/** Options of `ApiKeyFeed.follow`. */
export interface FollowOptions {
  /** Counts the lease of this host. */
  readonly clock: Clock;
  /** Called with each changed key, and with undefined when any may have changed. */
  readonly changed: (change: ApiKeyChange | undefined) => void;
  /** Called when the feed is lost. It is followed again. */
  readonly failed: (cause: unknown) => void;
}

/** The feed as one host follows it. */
export interface FollowedFeed {
  /** Returns whether this host holds a lease, so that every committed and confirmed change was announced to it. */
  isCurrent(): boolean;
  /** Gives the lease back. */
  stop(): Promise<void>;
}
