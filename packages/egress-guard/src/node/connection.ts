import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { type Address, sameAddress } from '../address.ts';
import type { Dialled } from './connect.ts';

/** The limits on the reuse of a connection. */
export interface ConnectionLimits {
  /** The longest idle time in milliseconds. */
  readonly maxIdleMs: number;
  /** The longest lifetime in milliseconds. */
  readonly maxLifetimeMs: number;
  /** The largest number of requests. */
  readonly maxRequests: number;
}

const MAX_HEADER_BYTES = 16_384;

/**
 * One connection to a judged address, for one scheme, host name and port, with a certificate that is valid for that
 * name. It serves one request at a time and is never reopened.
 */
export class Connection {
  /** The scheme, host name and port that it serves, such as `https://hooks.example:443`. */
  readonly key: string;
  readonly #socket: Socket;
  readonly #client: Client;
  readonly #peer: Address;
  readonly #openedAt: number;
  #idleSince: number;
  #requests = 0;
  /** The bytes read when the last response was complete. A byte more is unsolicited. */
  #bytesRead = 0;
  #dead = false;

  constructor(key: string, origin: string, { socket, peer }: Dialled, limits: ConnectionLimits, now: number) {
    this.key = key;
    this.#socket = socket;
    this.#peer = peer;
    this.#openedAt = now;
    this.#idleSince = now;
    let isTaken = false;
    this.#client = new Client(origin, {
      // Undici may use this socket only: a second connection would go to an address that was not judged.
      connect: (_options, callback) => {
        const first = !isTaken && !this.#dead;
        isTaken = true;
        // Undici expects the callback after this function has returned.
        queueMicrotask(() => (first ? callback(null, socket) : callback(new ConnectionGone(), null)));
      },
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: limits.maxIdleMs,
      keepAliveMaxTimeout: limits.maxIdleMs,
      // The deadline already limits the time; these would add idle timers.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    socket.on('error', () => {});
    socket.once('close', () => this.destroy());
  }

  /** Whether it has served a request before the current one. */
  get isReused(): boolean {
    return this.#requests > 1;
  }

  /** Hands a request to the connection. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#requests += 1;
    this.#client.dispatch(options, handler);
  }

  /** Marks the connection as idle, after a complete response. */
  rest(now: number): void {
    this.#idleSince = now;
    this.#bytesRead = this.#socket.bytesRead;
  }

  /** Whether it may serve a request whose host name has just resolved to these addresses. */
  mayServe(addresses: readonly Address[], limits: ConnectionLimits, now: number): boolean {
    if (this.#dead || this.#socket.destroyed || !this.#socket.writable) return false;
    if (this.#socket.bytesRead !== this.#bytesRead) return false;
    if (this.#requests >= limits.maxRequests) return false;
    if (now - this.#openedAt >= limits.maxLifetimeMs || now - this.#idleSince >= limits.maxIdleMs) return false;
    return this.hasPeerIn(addresses);
  }

  /** Whether its peer is one of the addresses. */
  hasPeerIn(addresses: readonly Address[]): boolean {
    return addresses.some((address) => sameAddress(address, this.#peer));
  }

  /** Whether it can serve no further request. */
  get isDead(): boolean {
    return this.#dead || this.#socket.destroyed;
  }

  /** Closes the connection; its request fails. */
  destroy(): void {
    if (this.#dead) return;
    this.#dead = true;
    void this.#client.destroy().catch(() => {});
    this.#socket.destroy();
  }
}

/** The connection was closed before the request was written to it: no byte of the request was sent. */
export class ConnectionGone extends Error {
  constructor() {
    super('The connection was closed before the request was sent.');
    this.name = 'ConnectionGone';
  }
}
