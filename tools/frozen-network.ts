import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy in front of a server that can stop to forward bytes without closing a connection, as a lost network does. */
export interface FrozenNetwork {
  /** The port of the proxy. */
  readonly port: number;
  /** Drops all bytes, and hides all closed connections, from now on. */
  freeze(): void;
  close(): Promise<void>;
}

/** Starts a proxy to a port of this machine. */
export async function frozenNetwork(to: number): Promise<FrozenNetwork> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('data', (chunk) => !isFrozen && other.write(chunk));
      socket.on('error', () => {});
      socket.on('close', () => !isFrozen && other.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    freeze() {
      isFrozen = true;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
