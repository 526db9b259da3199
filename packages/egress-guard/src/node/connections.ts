import type { Address } from '../address.ts';
import type { OptionNames } from '../known-options.ts';
import type { CheckedUrl } from '../url.ts';
import type { Dialled } from './connect.ts';
import { Connection, type ConnectionLimits } from './connection.ts';

/** The limits on kept connections. Each is a whole number, 0 or more. */
export interface ConnectionsOptions {
  /**
   * The time in milliseconds for which an idle connection is kept; 0 keeps none, so that every call opens its own.
   * Default 4000.
   */
  readonly maxIdleMs?: number;
  /** The longest lifetime of a connection in milliseconds. Default 60 000. */
  readonly maxLifetimeMs?: number;
  /** The largest number of requests over one connection. Default 1000. */
  readonly maxRequests?: number;
  /** The largest number of idle connections in total; the oldest is closed first. Default 256. */
  readonly maxIdle?: number;
}

/** The names of {@link ConnectionsOptions}. */
export const CONNECTIONS_OPTIONS: OptionNames<ConnectionsOptions> = {
  maxIdleMs: true,
  maxLifetimeMs: true,
  maxRequests: true,
  maxIdle: true,
};

/**
 * The connections that are kept alive between calls. A kept connection serves a call only when all of this holds:
 * scheme, host name and port are the same; its peer is among the addresses that were resolved for this call; no
 * unsolicited byte has arrived; and its limits are not reached. No connection is shared between host names, even when
 * their addresses are equal.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #maxIdle: number;
  readonly #now: () => number;
  /** The idle connections by their key; the most recent last. */
  readonly #idle = new Map<string, Connection[]>();
  readonly #busy = new Set<Connection>();
  #idleCount = 0;
  #isClosed = false;

  /** @throws {TypeError} when a limit is not a whole number, 0 or more */
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

  /** Takes an idle connection that may serve the URL. Destroys idle connections of the URL that no longer may. */
  take(url: CheckedUrl, addresses: readonly Address[]): Connection | undefined {
    const key = keyOf(url);
    const idle = this.#idle.get(key);
    if (idle === undefined) return undefined;
    const now = this.#now();
    let found: Connection | undefined;
    let kept = 0;
    // Every connection is judged, so that none to an address that is gone stays open.
    for (const connection of idle) {
      if (connection.mayServe(addresses, this.#limits, now)) {
        idle[kept] = connection;
        kept += 1;
        found = connection;
      } else connection.destroy();
    }
    if (found !== undefined) {
      kept -= 1;
      this.#busy.add(found);
    }
    this.#idleCount += kept - idle.length;
    idle.length = kept;
    if (kept === 0) this.#idle.delete(key);
    return found;
  }

  /** Adds a connection that was just opened for a URL, as busy. */
  add(url: CheckedUrl, dialled: Dialled): Connection {
    const connection = new Connection(keyOf(url), dialled, this.#now);
    this.#busy.add(connection);
    if (this.#isClosed) connection.destroy();
    return connection;
  }

  /**
   * Releases a connection after a complete response: it is kept, unless a limit is reached.
   *
   * @param serverIdleMs the time in milliseconds for which the server keeps it; undefined when the server did not say
   */
  release(connection: Connection, serverIdleMs?: number): void {
    this.#busy.delete(connection);
    const { maxIdleMs } = this.#limits;
    const idleMs = serverIdleMs === undefined ? maxIdleMs : Math.min(maxIdleMs, serverIdleMs - MARGIN_MS);
    if (this.#isClosed || this.#maxIdle === 0 || idleMs <= 0 || connection.isDead) {
      connection.destroy();
      return;
    }
    connection.rest(idleMs);
    const idle = this.#idle.get(connection.key) ?? [];
    idle.push(connection);
    // Moves the whole list to the end: the map iterates from the list whose last release is oldest.
    this.#idle.delete(connection.key);
    this.#idle.set(connection.key, idle);
    this.#idleCount += 1;
    if (this.#idleCount > this.#maxIdle) this.#dropOldest();
  }

  /** Destroys a connection whose response is incomplete or invalid. */
  discard(connection: Connection): void {
    this.#busy.delete(connection);
    connection.destroy();
  }

  /** The numbers of connections, for tests and metrics. */
  get size(): { readonly idle: number; readonly busy: number } {
    return { idle: this.#idleCount, busy: this.#busy.size };
  }

  /** Destroys every connection, idle or busy. */
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

/** The time in milliseconds before the server's own limit at which an idle connection is given up. */
const MARGIN_MS = 2000;

function keyOf({ protocol, hostname, port }: CheckedUrl): string {
  return `${protocol}//${hostname}:${port}`;
}
