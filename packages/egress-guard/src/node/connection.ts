import type { Socket } from 'node:net';
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

/** The reader of the response to one request. */
export interface ConnectionReader {
  /** Bytes have arrived. */
  onBytes(chunk: Buffer): void;
  /** The server has sent its last byte. */
  onEnd(): void;
  /** The connection was closed. @param error the error that closed it; undefined for an orderly close */
  onClose(error: Error | undefined): void;
}

/**
 * One connection to a judged address, for one scheme, host name and port, with a certificate that is valid for that
 * name. It serves one request at a time and is never reopened.
 */
export class Connection {
  /** The scheme, host name and port that it serves, such as `https://hooks.example:443`. */
  readonly key: string;
  readonly #socket: Socket;
  readonly #peer: Address;
  readonly #openedAt: number;
  readonly #now: () => number;
  #reader: ConnectionReader | undefined;
  #error: Error | undefined;
  #idleSince = 0;
  #idleMs = 0;
  /** Closes the idle connection. It is set again when it fires early, so that a request need not clear it. */
  #idleTimer: NodeJS.Timeout | undefined;
  #requests = 0;
  /** The bytes read when the last response was complete. A byte more is unsolicited. */
  #bytesRead = 0;
  #dead = false;

  constructor(key: string, { socket, peer }: Dialled, now: () => number) {
    this.key = key;
    this.#socket = socket;
    this.#peer = peer;
    this.#now = now;
    this.#openedAt = now();
    socket.on('data', (chunk: Buffer) => {
      if (this.#reader === undefined) this.destroy();
      else this.#reader.onBytes(chunk);
    });
    socket.on('end', () => {
      this.#reader?.onEnd();
      this.destroy();
    });
    socket.on('error', (error) => {
      this.#error ??= error;
    });
    socket.once('close', () => {
      this.destroy();
      this.#reader?.onClose(this.#error);
    });
  }

  /** Whether it has served a request before the current one. */
  get isReused(): boolean {
    return this.#requests > 1;
  }

  /**
   * Sends a request. Its reader is called until it is released.
   *
   * @returns false when the connection is closed, so that no byte was sent
   */
  send(bytes: Uint8Array, reader: ConnectionReader): boolean {
    if (this.isDead || !this.#socket.writable) return false;
    if (this.#requests > 0) this.#socket.ref();
    this.#requests += 1;
    this.#reader = reader;
    this.#socket.write(bytes);
    return true;
  }

  /** Whether every byte of the request has been handed to the operating system. */
  get isSent(): boolean {
    return this.#socket.writableLength === 0;
  }

  /** Removes the reader, whose response is complete or has failed. A byte that arrives later closes the connection. */
  release(): void {
    this.#reader = undefined;
  }

  /**
   * Marks the connection as idle, after a complete response. An idle connection does not keep the process running.
   *
   * @param idleMs the time in milliseconds after which it closes
   */
  rest(idleMs: number): void {
    if (idleMs < this.#idleMs) {
      clearTimeout(this.#idleTimer);
      this.#idleTimer = undefined;
    }
    this.#idleSince = this.#now();
    this.#idleMs = idleMs;
    this.#bytesRead = this.#socket.bytesRead;
    this.#socket.unref();
    this.#idleTimer ??= this.#after(idleMs);
  }

  /** Whether it may serve a request whose host name has just resolved to these addresses. */
  mayServe(addresses: readonly Address[], limits: ConnectionLimits, now: number): boolean {
    if (this.#dead || this.#socket.destroyed || !this.#socket.writable) return false;
    if (this.#socket.bytesRead !== this.#bytesRead) return false;
    if (this.#requests >= limits.maxRequests) return false;
    if (now - this.#openedAt >= limits.maxLifetimeMs || now - this.#idleSince >= this.#idleMs) return false;
    return this.hasPeerIn(addresses);
  }

  /** Whether its peer is one of the addresses. */
  hasPeerIn(addresses: readonly Address[]): boolean {
    for (const address of addresses) if (sameAddress(address, this.#peer)) return true;
    return false;
  }

  /** Whether it can serve no further request. */
  get isDead(): boolean {
    return this.#dead || this.#socket.destroyed;
  }

  /** Closes the connection; its request fails. */
  destroy(): void {
    if (this.#dead) return;
    this.#dead = true;
    clearTimeout(this.#idleTimer);
    this.#socket.destroy();
  }

  #after(ms: number): NodeJS.Timeout {
    const timer = setTimeout(() => {
      const left = this.#idleSince + this.#idleMs - this.#now();
      if (this.#reader === undefined && left <= 0) this.destroy();
      else this.#idleTimer = this.#after(this.#reader === undefined ? left : this.#idleMs);
    }, ms);
    return timer.unref();
  }
}
