import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** A way to a server through which nothing may come for a while, and no connection ends either. */
export interface FrozenNetwork {
  readonly port: number;
  /** From now on, neither side hears anything of the other. */
  freeze(): void;
  close(): Promise<void>;
}

/** Leads to a port of this machine. */
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
