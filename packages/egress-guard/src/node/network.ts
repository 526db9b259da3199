import { connect, type Socket } from 'node:net';

/** The network: TCP by default. Tests implement it to simulate the public internet on loopback. */
export interface Network {
  /** Begins to connect to a literal address. */
  connect(address: string, port: number): Socket;
  /** Returns the address of the peer of a connected socket. */
  peerOf(socket: Socket): string | undefined;
}

/** The network by TCP. */
export const tcp: Network = {
  connect: (host, port) => connect({ host, port, autoSelectFamily: false, noDelay: true }),
  peerOf: ({ remoteAddress }) => remoteAddress,
};
