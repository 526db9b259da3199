import type { Writable } from 'node:stream';
import type { JsonObject } from '../json.ts';

/** The streams that the command writes to, its environment, and its network access. */
export interface Terminal {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly fetch: (request: Request) => Promise<Response>;
}

/** Wrong usage: the message is printed, and the exit code is 2. */
export class UsageError extends Error {}

/** The host or the store refused the work: the exit code is 1. */
export class Refused extends Error {}

/** The host or the store could not be reached: the exit code is 3. */
export class Unreachable extends Error {}

/** The keys that the command works on: those of a running host, or of a store. */
export interface KeyTarget {
  create(fields: NewKeyFields): Promise<KeyAnswer>;
  list(query: {
    readonly state: string | undefined;
    readonly principal: string | undefined;
  }): AsyncIterable<JsonObject>;
  rotate(id: string, fields: { readonly graceSeconds: number; readonly expiresAt?: string }): Promise<KeyAnswer>;
  revoke(id: string): Promise<JsonObject>;
  /** Stores records of keys that were made elsewhere. Returns the number of new ones. */
  import(records: readonly unknown[]): Promise<number>;
  close(): Promise<void>;
}

/** The fields of a new key, as the API takes them. */
export interface NewKeyFields {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly workspaces?: readonly string[];
  readonly principal?: string;
  readonly expiresAt?: string;
  readonly rateLimit?: { readonly limit: number; readonly windowSeconds: number };
  readonly quota?: { readonly limit: number; readonly period: 'day' | 'month' };
  readonly allowedAddresses?: readonly string[];
}

/** A new key with its records. */
export type KeyAnswer = JsonObject & { readonly key: string };
