import type { Address } from '../address.ts';
import type { CheckedUrl } from '../url.ts';
import type { Dialled } from './connect.ts';
import { Connection, type ConnectionLimits } from './connection.ts';

export interface ConnectionsOptions {
  /** How long an idle connection is kept. Default 4000 ms; 0 keeps none, so that every call opens its own. */
  readonly maxIdleMs?: number;
  /** How long a connection serves at the most. Default 60 000 ms. */
  readonly maxLifetimeMs?: number;
  /** How many requests it serves at the most. Default 1000. */
  readonly maxRequests?: number;
  /** How many idle connections are kept in all; the oldest goes first. Default 256. */
  readonly maxIdle?: number;
}

/**
 * Connections that are kept alive between calls, and may only serve what was validated anew: the same scheme, host name and port, a
 * peer that is in the set of addresses that was resolved for this very call, not a byte that nobody asked for, and bounded time and use.
 * Nothing is shared between host names, whatever addresses they have.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #maxIdle: number;
  readonly #now: () => number;
  /** The idle ones by what they were opened for; the most recent last. */
  readonly #idle = new Map<string, Connection[]>();
  readonly #busy = new Set<Connection>();
  #idleCount = 0;
  #isClosed = false;

  /** @throws {TypeError} for a limit that is not a whole number */
  constructor(options: ConnectionsOptions, now: () => number = () => performance.now()) {
    const { maxIdleMs = 4000, maxLifetimeMs = 60_000, maxRequests = 1000, maxIdle = 256 } = options;
    for (const [name, value] of Object.entries({ maxIdleMs, maxLifetimeMs, maxRequests, maxIdle })) {
      if (!Number.isSafeInteger(value) || value < 0) {
        throw new TypeError(`${name}: must be a whole number, 0 or more. Leave it out for the default.`);
      }
    }
    this.#limits = { maxIdleMs, maxLifetimeMs, maxRequests };
    this.#maxIdle = maxIdleMs === 0 ? 0 : maxIdle;
    this.#now = now;
  }

  /** An idle connection that may serve the URL; those that no longer may are destroyed on the way. */
  take(url: CheckedUrl, addresses: readonly Address[]): Connection | undefined {
    const key = keyOf(url);
    const idle = this.#idle.get(key);
    if (idle === undefined) return undefined;
    const now = this.#now();
    let found: Connection | undefined;
    const kept = idle.filter((connection) => {
      if (!connection.mayServe(addresses, this.#limits, now)) {
        connection.destroy();
        return false;
      }
      found = connection;
      return true;
    });
    if (found !== undefined) kept.pop();
    this.#idleCount += kept.length - idle.length;
    if (kept.length === 0) this.#idle.delete(key);
    else this.#idle.set(key, kept);
    if (found !== undefined) this.#busy.add(found);
    return found;
  }

  /** Takes charge of a connection that was just opened for a URL. */
  add(url: CheckedUrl, dialled: Dialled): Connection {
    const key = keyOf(url);
    const origin = new URL(url.href).origin;
    const connection = new Connection(
      key,
      origin,
      dialled,
      { ...this.#limits, maxIdleMs: this.#limits.maxIdleMs || 1 },
      this.#now(),
    );
    this.#busy.add(connection);
    if (this.#isClosed) connection.destroy();
    return connection;
  }

  /** The answer is complete: the connection rests, if it may. */
  release(connection: Connection): void {
    this.#busy.delete(connection);
    if (this.#isClosed || this.#maxIdle === 0 || connection.isDead) {
      connection.destroy();
      return;
    }
    connection.rest(this.#now());
    const idle = this.#idle.get(connection.key);
    // To the end, and the whole list with it: a map iterates from the list that rested first.
    this.#idle.delete(connection.key);
    this.#idle.set(connection.key, idle === undefined ? [connection] : [...idle, connection]);
    this.#idleCount += 1;
    if (this.#idleCount > this.#maxIdle) this.#dropOldest();
  }

  /** The answer is not complete, or is not believed. */
  discard(connection: Connection): void {
    this.#busy.delete(connection);
    connection.destroy();
  }

  /** How many connections there are, for tests and metrics. */
  get size(): { readonly idle: number; readonly busy: number } {
    return { idle: this.#idleCount, busy: this.#busy.size };
  }

  close(): void {
    this.#isClosed = true;
    for (const idle of this.#idle.values()) for (const connection of idle) connection.destroy();
    for (const connection of this.#busy) connection.destroy();
    this.#idle.clear();
    this.#busy.clear();
    this.#idleCount = 0;
  }

  #dropOldest(): void {
    for (const [key, idle] of this.#idle) {
      idle.shift()?.destroy();
      this.#idleCount -= 1;
      if (idle.length === 0) this.#idle.delete(key);
      return;
    }
  }
}

function keyOf({ protocol, hostname, port }: CheckedUrl): string {
  return `${protocol}//${hostname}:${port}`;
}
