import { isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { type Address, formatAddress, parseAddress, sameAddress } from '../address.ts';
import { EgressError } from '../errors.ts';
import type { Deadline } from './deadline.ts';
import type { Network } from './network.ts';

export interface DialOptions {
  readonly protocol: 'http:' | 'https:';
  /** The URL's host: the TLS server name, and the name that the certificate must hold. */
  readonly hostname: string;
  readonly port: number;
  /** Checked addresses, in the order in which they are tried. */
  readonly addresses: readonly Address[];
  readonly trust: SecureContext;
  readonly network: Network;
  readonly deadline: Deadline;
}

export interface Dialled {
  readonly socket: Socket;
  /** Which of the addresses answered. */
  readonly peer: Address;
}

/**
 * Connects to the first checked address that answers. A TLS failure is final: another address would be another machine.
 *
 * @throws {EgressError} `destination_unavailable`, `tls_failed`, `timeout`, `aborted`
 */
export async function dial(options: DialOptions): Promise<Dialled> {
  let failure: unknown;
  for (const [index, address] of options.addresses.entries()) {
    options.deadline.throwIfEnded();
    const isLast = index === options.addresses.length - 1;
    let socket: Socket;
    try {
      socket = await openTcp(address, options, isLast ? undefined : PATIENCE_MS);
    } catch (error) {
      if (options.deadline.ended !== undefined) throw options.deadline.ended;
      failure = error;
      continue;
    }
    return { socket: options.protocol === 'https:' ? await secure(socket, options) : socket, peer: address };
  }
  throw new EgressError('destination_unavailable', 'connect', { cause: failure });
}

/** How long an address that does not answer holds up the next one. The last one has the whole deadline. */
const PATIENCE_MS = 1000;

/** Dials a literal, so nothing is resolved, and checks who answered. */
async function openTcp(
  address: Address,
  { port, network, deadline }: DialOptions,
  patienceMs?: number,
): Promise<Socket> {
  const socket = network.connect(formatAddress(address), port);
  await ready(socket, 'connect', deadline, patienceMs);
  const peer = parseAddress(network.peerOf(socket) ?? '');
  if (peer !== undefined && sameAddress(peer, address)) return socket;
  socket.destroy();
  throw new Error('The peer is not the dialled address.');
}

async function secure(socket: Socket, { hostname, trust, deadline }: DialOptions): Promise<Socket> {
  // No session is offered, so the certificate is checked on every connection.
  const secured = connectTls({
    socket,
    host: hostname,
    ...(isIP(hostname) === 0 && { servername: hostname }),
    secureContext: trust,
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
  });
  try {
    await ready(secured, 'secureConnect', deadline);
    return secured;
  } catch (error) {
    socket.destroy();
    throw deadline.ended ?? new EgressError('tls_failed', 'tls', { cause: error });
  }
}

function ready(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  deadline: Deadline,
  patienceMs?: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer =
      patienceMs === undefined
        ? undefined
        : setTimeout(() => settle(new Error(`The address did not answer within ${patienceMs} ms.`)), patienceMs);
    const settle = (error?: unknown) => {
      clearTimeout(timer);
      socket.off(event, succeed).off('error', settle).off('close', close);
      forget();
      if (error === undefined) return resolve();
      // A late error of a socket that nobody holds must not end the process.
      socket.on('error', () => {}).destroy();
      reject(error);
    };
    const succeed = () => settle();
    const close = () => settle(new Error('The connection was closed.'));
    let forget = () => {};
    socket.once(event, succeed).once('error', settle).once('close', close);
    forget = deadline.onEnd(settle);
  });
}
