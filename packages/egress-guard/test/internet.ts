import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';
import { expect, vi } from 'vitest';
import { formatAddress, parseAddress } from '../src/address.ts';
import type { GuardOptions } from '../src/node/guard.ts';
import { type EgressPolicy, type EgressPolicyOptions, egressPolicy } from '../src/policy.ts';

/** Reads a certificate, or the authority `ca.pem`. */
export function fixture(name: string): string {
  return readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');
}

/** The address and port of a server; 127.0.0.n is 9.9.9.n of the internet. */
export interface Place {
  readonly address?: string;
  readonly port?: number;
}

/** A policy that trusts the authority of this internet. */
export function publicPolicy(options: EgressPolicyOptions = {}): EgressPolicy {
  return egressPolicy({ ca: [fixture('ca.pem')], ...options });
}

/**
 * A public internet on loopback: 9.9.9.n is 127.0.0.n, a test sets the addresses of the names, and every resolution and
 * connection is counted. The guard under test sees public addresses and real sockets.
 */
export class Internet {
  /** The addresses of each name; a function is called for each resolution. */
  readonly names = new Map<string, readonly string[] | (() => readonly string[])>();
  /** The resolved names, in order. */
  readonly resolved: string[] = [];
  /** The dialled addresses, in order. */
  readonly dialled: string[] = [];
  /** The sockets of the guard, in order. */
  readonly sockets: Socket[] = [];
  readonly #talking: Socket[] = [];
  readonly #servers: (Server | TcpServer)[] = [];
  readonly #peers = new Map<Socket, string>();

  /** Returns the options of a guard that uses this internet. */
  options(over: Partial<GuardOptions> = {}): GuardOptions {
    return {
      policy: publicPolicy(),
      resolver: {
        resolve: async (name) => {
          this.resolved.push(name);
          const answers = this.names.get(name);
          if (answers === undefined) throw new Error('ENOTFOUND');
          return typeof answers === 'function' ? answers() : answers;
        },
      },
      network: {
        connect: (address, port) => {
          this.dialled.push(address);
          const socket = connect({ host: loopbackOf(address), port, noDelay: true });
          this.#peers.set(socket, address);
          this.sockets.push(socket);
          return socket;
        },
        peerOf: (socket) => this.#peers.get(socket),
      },
      ...over,
    };
  }

  /** The number of open sockets of the guard. */
  get open(): number {
    return this.sockets.filter((socket) => !socket.destroyed).length;
  }

  /** Waits until so many sockets of the guard are open: a socket closes some turns of the event loop after its call. */
  async untilOpen(count: number): Promise<void> {
    await vi.waitFor(() => expect(this.open).toBe(count), { timeout: 8000 });
  }

  async secure(
    listener: RequestListener,
    name: 'hooks' | 'other' = 'hooks',
    at: Place = {},
    more: ServerOptions = {},
  ): Promise<number> {
    const keys = { key: fixture(`${name}.key`), cert: fixture(`${name}.pem`) };
    return this.listen(createSecureServer({ ...keys, ...more }, listener), at);
  }

  async plain(listener: RequestListener): Promise<number> {
    return this.listen(createServer(listener));
  }

  /** Starts a server of raw bytes, which can break HTTP. */
  async raw(talk: (socket: Socket) => void): Promise<number> {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      this.#talking.push(socket);
      talk(socket);
    });
    return this.listen(server);
  }

  async listen(server: Server | TcpServer, { address = '127.0.0.1', port = 0 }: Place = {}): Promise<number> {
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(port, address, resolve));
    return (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of [...this.sockets, ...this.#talking]) socket.destroy();
    for (const server of this.#servers) {
      if ('closeAllConnections' in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }
}

function loopbackOf(address: string): string {
  const bytes = parseAddress(address);
  if (bytes?.length === 4 && bytes[0] === 9) return formatAddress(Uint8Array.of(127, 0, 0, bytes[3] ?? 1));
  if (bytes !== undefined && formatAddress(bytes).startsWith('127.')) return address;
  // An address without a server: a test never calls an address outside loopback.
  return '127.255.255.254';
}
