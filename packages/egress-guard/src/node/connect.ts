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
  /** The judged addresses, in the order of the answers. */
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
 * Connects to the judged addresses until one accepts, as RFC 8305 does: the families take turns, and the next address is
 * tried after 250 ms or at once after a failure, while at most three earlier attempts continue. A TLS failure is final,
 * because the next address may be another machine.
 *
 * @throws {EgressError} `destination_unavailable`, `tls_failed`, `timeout`, `aborted`
 */
export async function dial(options: DialOptions): Promise<Dialled> {
  options.deadline.throwIfEnded();
  const { socket, peer } = await new Race(options).winner;
  return { socket: options.protocol === 'https:' ? await secure(socket, options) : socket, peer };
}

/** The time in milliseconds after which the next address is tried as well. */
const NEXT_AFTER_MS = 250;
/** The most attempts at one time. The oldest ends for the next, so an address has at least a second. */
const MAX_AT_ONCE = 4;

/** Attempts to connect, of which the first that succeeds ends the others. */
class Race {
  /** The connection to the first address that accepted. */
  readonly winner: Promise<Dialled>;
  readonly #options: DialOptions;
  readonly #addresses: Address[];
  readonly #running = new Set<Socket>();
  #resolve: (dialled: Dialled) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #next: NodeJS.Timeout | undefined;
  #failure: unknown;
  #isOver = false;

  constructor(options: DialOptions) {
    this.winner = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#options = options;
    this.#addresses = byTurns(options.addresses);
    this.#begin();
  }

  /** Tries the next address. */
  #begin(): void {
    clearTimeout(this.#next);
    this.#next = undefined;
    if (this.#isOver) return;
    const address = this.#addresses.shift();
    if (address === undefined) {
      if (this.#running.size === 0) {
        this.#end(new EgressError('destination_unavailable', 'connect', { cause: this.#failure }));
      }
      return;
    }
    if (this.#running.size >= MAX_AT_ONCE) this.#endOldest();
    if (this.#addresses.length > 0) this.#beginLater();
    this.#options.onPhase?.('connect');
    void this.#attempt(address);
  }

  #beginLater(): void {
    const timer = setTimeout(() => {
      // After a turn that took long, a connection that was accepted in time is found before the next one begins.
      setImmediate(() => {
        if (this.#next === timer) this.#begin();
      });
    }, NEXT_AFTER_MS);
    this.#next = timer;
  }

  #endOldest(): void {
    const [oldest] = this.#running;
    if (oldest === undefined) return;
    this.#running.delete(oldest);
    oldest.destroy();
  }

  async #attempt(address: Address): Promise<void> {
    const { port, network, deadline } = this.#options;
    let socket: Socket | undefined;
    try {
      // The address is a literal, so that no name is resolved again.
      socket = network.connect(formatAddress(address), port);
      this.#running.add(socket);
      await ready(socket, 'connect', deadline);
      const peer = parseAddress(network.peerOf(socket) ?? '');
      if (peer === undefined || !sameAddress(peer, address)) throw new Error('The peer is not the dialled address.');
      this.#running.delete(socket);
      this.#win({ socket, peer: address });
    } catch (error) {
      socket?.destroy();
      this.#failure ??= error;
      if (deadline.ended !== undefined) this.#end(deadline.ended);
      // An attempt that ended for the next one has been replaced already.
      else if (socket === undefined || this.#running.delete(socket)) this.#begin();
    }
  }

  #win(dialled: Dialled): void {
    if (this.#isOver) dialled.socket.destroy();
    else {
      this.#resolve(dialled);
      this.#end(undefined);
    }
  }

  #end(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#next);
    for (const socket of this.#running) socket.destroy();
    if (error !== undefined) this.#reject(error);
  }
}

/** Orders addresses so that their families take turns. The family of the first answer begins. */
function byTurns(addresses: readonly Address[]): Address[] {
  const first = addresses.filter(({ length }) => length === addresses[0]?.length);
  const second = addresses.filter(({ length }) => length !== addresses[0]?.length);
  return Array.from({ length: Math.max(first.length, second.length) }, (_, index) => [
    ...first.slice(index, index + 1),
    ...second.slice(index, index + 1),
  ]).flat();
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

function ready(socket: Socket, event: 'connect' | 'secureConnect', deadline: Deadline): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: unknown) => {
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
