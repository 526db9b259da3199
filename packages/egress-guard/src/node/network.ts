import { connect, type Socket } from 'node:net';

/** TCP. A port, so that tests can stand for the public internet on loopback; everything else uses {@link tcp}. */
export interface Network {
  /** Begins to connect to an address, which is a literal. */
  connect(address: string, port: number): Socket;
  /** Who answered, once connected. */
  peerOf(socket: Socket): string | undefined;
}

export const tcp: Network = {
  connect: (host, port) => connect({ host, port, autoSelectFamily: false, noDelay: true }),
  peerOf: ({ remoteAddress }) => remoteAddress,
};
