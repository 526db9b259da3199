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
import { formatAddress, parseAddress } from '../src/address.ts';
import type { GuardOptions } from '../src/node/guard.ts';
import { egressPolicy } from '../src/policy.ts';

/** A certificate, or the authority `ca.pem`. */
export function fixture(name: string): string {
  return readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');
}

/** Where a server listens; 127.0.0.n is 9.9.9.n of the internet. */
export interface Place {
  readonly address?: string;
  readonly port?: number;
}

/**
 * A public internet on loopback: 9.9.9.n is 127.0.0.n, names resolve to what a test says, and everything is counted.
 * The guard under test sees public addresses and real sockets.
 */
export class Internet {
  /** What each name resolves to; a function is asked each time. */
  readonly names = new Map<string, readonly string[] | (() => readonly string[])>();
  /** Every name that was resolved, in order. */
  readonly resolved: string[] = [];
  /** Every address that was dialled, in order. */
  readonly dialled: string[] = [];
  /** Every socket of ours, in order. */
  readonly sockets: Socket[] = [];
  readonly #talking: Socket[] = [];
  readonly #servers: (Server | TcpServer)[] = [];
  readonly #peers = new Map<Socket, string>();

  /** The options of a guard that lives in this internet. */
  options(over: Partial<GuardOptions> = {}): GuardOptions {
    return {
      policy: egressPolicy(),
      ca: [fixture('ca.pem')],
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

  /** Sockets of ours that are open. */
  get open(): number {
    return this.sockets.filter((socket) => !socket.destroyed).length;
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

  /** Speaks raw bytes, to do what no HTTP server would. */
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
  // Nowhere: nothing that is not loopback is ever called.
  return '127.255.255.254';
}
