import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { type Address, sameAddress } from '../address.ts';
import type { Dialled } from './connect.ts';

/** How long a connection may serve. */
export interface ConnectionLimits {
  readonly maxIdleMs: number;
  readonly maxLifetimeMs: number;
  readonly maxRequests: number;
}

const MAX_HEADER_BYTES = 16_384;

/**
 * One connection to a checked address, for one scheme, host name and port, with the certificate checked for that name. It serves one
 * request at a time, and is never re-opened.
 */
export class Connection {
  /** `https://hooks.example:443`: what it was opened for, and the only thing that it may serve. */
  readonly key: string;
  readonly #socket: Socket;
  readonly #client: Client;
  readonly #peer: Address;
  readonly #openedAt: number;
  #idleSince: number;
  #requests = 0;
  /** What had been read when the last answer was complete. Anything more was not asked for. */
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
      // The one connection there is: a second would be one that nobody checked.
      connect: (_options, callback) => {
        const first = !isTaken && !this.#dead;
        isTaken = true;
        // Undici expects the answer in a later step.
        queueMicrotask(() => (first ? callback(null, socket) : callback(new ConnectionGone(), null)));
      },
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: limits.maxIdleMs,
      keepAliveMaxTimeout: limits.maxIdleMs,
      // The deadline is the one bound of time; these would be idle timers beside it.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    socket.on('error', () => {});
    socket.once('close', () => this.destroy());
  }

  get isReused(): boolean {
    return this.#requests > 1;
  }

  /** Hands a request to the connection. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#requests += 1;
    this.#client.dispatch(options, handler);
  }

  /** The answer is complete. */
  rest(now: number): void {
    this.#idleSince = now;
    this.#bytesRead = this.#socket.bytesRead;
  }

  /** Whether it may serve a request whose host name resolved to these addresses just now. */
  mayServe(addresses: readonly Address[], limits: ConnectionLimits, now: number): boolean {
    if (this.#dead || this.#socket.destroyed || !this.#socket.writable) return false;
    if (this.#socket.bytesRead !== this.#bytesRead) return false;
    if (this.#requests >= limits.maxRequests) return false;
    if (now - this.#openedAt >= limits.maxLifetimeMs || now - this.#idleSince >= limits.maxIdleMs) return false;
    return this.hasPeerIn(addresses);
  }

  hasPeerIn(addresses: readonly Address[]): boolean {
    return addresses.some((address) => sameAddress(address, this.#peer));
  }

  get isDead(): boolean {
    return this.#dead || this.#socket.destroyed;
  }

  destroy(): void {
    if (this.#dead) return;
    this.#dead = true;
    void this.#client.destroy().catch(() => {});
    this.#socket.destroy();
  }
}

/** The connection was closed before the request could be written to it: nothing of it has left. */
export class ConnectionGone extends Error {
  constructor() {
    super('The connection was closed before the request was sent.');
    this.name = 'ConnectionGone';
  }
}
