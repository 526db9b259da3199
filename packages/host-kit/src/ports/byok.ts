import type { Transaction } from './transaction.ts';

/** The owner of secrets: one workspace, or the whole tenant, in either live or test mode. */
export interface ByokPlace {
  readonly tenant: string;
  /** Absent: the whole tenant. Its secrets are separate from those of its workspaces. */
  readonly workspace?: string;
  readonly mode: 'live' | 'test';
}

/**
 * A secret that a tenant brings, such as its own key for an AI provider. Only runs of the same place get it decrypted.
 */
export interface ByokSecret extends ByokPlace {
  /** Unique within the place. */
  readonly name: string;
  /** The encrypted secret, bound to its place and name. */
  readonly sealed: Uint8Array;
  /** Time of the first `put` under this name, in ms since the epoch. */
  readonly createdAt: number;
  /** Time of the last `put`, in ms since the epoch. */
  readonly updatedAt: number;
}

/** Returns whether a text has the form of a secret's name. */
export function isSecretName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(text);
}

/**
 * Returns the context that a secret's encryption is bound to. A ciphertext that is moved to another place or name does
 * not decrypt.
 */
export function sealedForSecret({ tenant, workspace, mode }: ByokPlace, name: string): string {
  return JSON.stringify(['byok', tenant, workspace ?? null, mode, name]);
}

/**
 * The secrets that tenants bring. The caller passes its own place, or that of a run, to each method; every query is
 * restricted to that place. Names sort by their bytes.
 */
export interface ByokStore {
  /**
   * Adds a secret, or replaces the one of the same name and keeps its `createdAt`. Returns true when the name was new.
   */
  put(secret: ByokSecret, transaction: Transaction): Promise<boolean>;
  /** Counts the secrets of a place. Until the transaction ends, no other one that counts the same place goes on. */
  count(place: ByokPlace, transaction: Transaction): Promise<number>;
  /** Returns up to `limit` secrets of a place by ascending name, after the name `after` (`''`: from the first). */
  list(place: ByokPlace, page: { readonly after: string; readonly limit: number }): Promise<readonly ByokSecret[]>;
  /** Returns the secret of this name, or undefined. */
  find(place: ByokPlace, name: string): Promise<ByokSecret | undefined>;
  /** Deletes the secret of this name. Returns false when there was none. */
  remove(place: ByokPlace, name: string, transaction: Transaction): Promise<boolean>;
  /**
   * Returns up to `limit` secrets of all tenants, in a stable order of the store's choice, after the secret `after`.
   * For the host's own tasks; never on behalf of a caller.
   */
  page(page: { readonly after: ByokSecret | undefined; readonly limit: number }): Promise<readonly ByokSecret[]>;
  /**
   * Replaces the ciphertext `secret.sealed` by `sealed`, which encrypts the same secret under another key. Nothing
   * happens when the stored ciphertext is a different one by now, or the secret is gone.
   */
  reseal(secret: ByokSecret, sealed: Uint8Array, transaction: Transaction): Promise<void>;
}
