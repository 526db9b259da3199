import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { type Address, formatAddress, parseAddress, sameAddress } from '../address.ts';

export interface DialOptions {
  readonly protocol: 'http:' | 'https:';
  /** The URL's host: the TLS server name, and the name that the certificate must hold. */
  readonly hostname: string;
  readonly port: number;
  /** Checked addresses, in the order in which they are tried. */
  readonly addresses: readonly Address[];
  /** Trusted certificate authorities; undefined: the runtime's. */
  readonly ca: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

/** What went wrong before a request could be sent. */
export class DialError extends Error {
  readonly stage: 'connect' | 'tls';

  constructor(stage: 'connect' | 'tls', cause: unknown) {
    super(`The ${stage} stage failed.`, { cause });
    this.name = 'DialError';
    this.stage = stage;
  }
}

/** Connects to the first checked address that answers. A TLS failure is final: another address would be another machine. */
export async function dial(options: DialOptions): Promise<Socket> {
  let failure: unknown;
  for (const address of options.addresses) {
    options.signal.throwIfAborted();
    let socket: Socket;
    try {
      socket = await openTcp(address, options);
    } catch (error) {
      failure = error;
      continue;
    }
    return options.protocol === 'https:' ? secure(socket, options) : socket;
  }
  throw new DialError('connect', failure);
}

/** Dials a literal, so nothing is resolved, and checks who answered. */
async function openTcp(address: Address, { port, signal }: DialOptions): Promise<Socket> {
  const socket = connectTcp({ host: formatAddress(address), port, autoSelectFamily: false, noDelay: true });
  await ready(socket, 'connect', signal);
  const peer = parseAddress(socket.remoteAddress ?? '');
  if (peer !== undefined && sameAddress(peer, address)) return socket;
  socket.destroy();
  throw new Error('The peer is not the address that was dialled.');
}

async function secure(socket: Socket, { hostname, ca, signal }: DialOptions): Promise<TLSSocket> {
  // No session is offered, so the certificate is checked on every connection.
  const secured = connectTls({
    socket,
    host: hostname,
    ...(isIP(hostname) === 0 && { servername: hostname }),
    ...(ca !== undefined && { ca: [...ca] }),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
  });
  try {
    await ready(secured, 'secureConnect', signal);
    return secured;
  } catch (error) {
    socket.destroy();
    throw signal.aborted ? error : new DialError('tls', error);
  }
}

function ready(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: unknown) => {
      socket.off(event, succeed).off('error', settle).off('close', close);
      signal.removeEventListener('abort', abort);
      if (error === undefined) return resolve();
      // A late error of a socket that nobody holds must not end the process.
      socket.on('error', () => {}).destroy();
      reject(error);
    };
    const succeed = () => settle();
    const close = () => settle(new Error('The connection was closed.'));
    const abort = () => settle(signal.reason);
    socket.once(event, succeed).once('error', settle).once('close', close);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
}
