import type { Transaction } from './transaction.ts';

/** Where a secret belongs: a workspace, or the whole tenant where none is named; live and test apart. */
export interface ByokPlace {
  readonly tenant: string;
  readonly workspace?: string;
  readonly mode: 'live' | 'test';
}

/** A secret that a tenant brings, for example its own key of an AI provider. Only runs of its place ever see it opened. */
export interface ByokSecret extends ByokPlace {
  readonly name: string;
  readonly sealed: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a sealed secret is bound to: moved to another row, it does not open. */
export function sealedFor({ tenant, workspace, mode }: ByokPlace, name: string): string {
  return JSON.stringify(['byok', tenant, workspace ?? null, mode, name]);
}

/** The secrets that tenants bring. A place is the caller's own or a run's, so that isolation is in every query. */
export interface ByokStore {
  /** Keeps a secret, in place of one of the same name, whose `createdAt` stays. Returns whether it is new. */
  put(secret: ByokSecret, transaction: Transaction): Promise<boolean>;
  /** How many secrets a place has. */
  count(place: ByokPlace, transaction: Transaction): Promise<number>;
  /** Up to `limit` secrets of a place by name, those after `after` only. */
  list(place: ByokPlace, page: { readonly after: string; readonly limit: number }): Promise<readonly ByokSecret[]>;
  find(place: ByokPlace, name: string): Promise<ByokSecret | undefined>;
  /** Whether there was one. */
  remove(place: ByokPlace, name: string, transaction: Transaction): Promise<boolean>;
  /** Everybody's, in an order of the store's own, those after `after` only: for the host itself, which acts for no caller. */
  page(page: { readonly after: ByokSecret | undefined; readonly limit: number }): Promise<readonly ByokSecret[]>;
  /** Puts another sealing of the same secret in place of `secret.sealed`. Nothing happens when that is not there any more. */
  reseal(secret: ByokSecret, sealed: Uint8Array, transaction: Transaction): Promise<void>;
}
