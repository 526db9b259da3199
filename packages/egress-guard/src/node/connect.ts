import { isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { type Address, formatAddress, parseAddress, sameAddress } from '../address.ts';
import { EgressError } from '../errors.ts';
import type { Deadline } from './deadline.ts';
import type { Network } from './network.ts';

/** The options of {@link dial}. */
export interface DialOptions {
  /** The scheme of the URL; `https:` adds TLS. */
  readonly protocol: 'http:' | 'https:';
  /** The host of the URL: the TLS server name, for which the certificate must be valid. */
  readonly hostname: string;
  /** The port of the URL. */
  readonly port: number;
  /** The judged addresses, in the order in which they are tried. */
  readonly addresses: readonly Address[];
  /** The trusted authorities. */
  readonly trust: SecureContext;
  /** The network that connects. */
  readonly network: Network;
  /** The deadline of the call. */
  readonly deadline: Deadline;
  /** Called when the connection to an address begins, and when TLS begins. */
  readonly onPhase?: ((phase: 'connect' | 'tls') => void) | undefined;
}

/** An open connection. */
export interface Dialled {
  /** The socket, after TLS for `https:`. */
  readonly socket: Socket;
  /** The address that accepted the connection. */
  readonly peer: Address;
}

/**
 * Connects to the first judged address that accepts. A TLS failure is final, because the next address may be another
 * machine.
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
      options.onPhase?.('connect');
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

/** The time in milliseconds after which the next address is tried. The last address has the rest of the deadline. */
const PATIENCE_MS = 1000;

/** Dials an address, so that no name is resolved again, and checks the address of the peer. */
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

async function secure(socket: Socket, { hostname, trust, deadline, onPhase }: DialOptions): Promise<Socket> {
  onPhase?.('tls');
  // No session is offered: a resumed session would skip the check of the certificate.
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
      // A later error of the socket must not end the process.
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
