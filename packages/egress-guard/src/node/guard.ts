// The declarations of this file name types of Node. Without this line, a consumer would need to list `node` in `types`.
/// <reference types="node" preserve="true" />
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { type Address, parseAddress } from '../address.ts';
import { checkAnswers } from '../answers.ts';
import { isLoopback } from '../classify.ts';
import { EgressError } from '../errors.ts';
import type { OptionNames } from '../known-options.ts';
import { type EgressPolicy, egressPolicy, requirePolicy } from '../policy.ts';
import type { CheckedUrl } from '../url.ts';
import { type Dialled, dial } from './connect.ts';
import type { Connection } from './connection.ts';
import { CONNECTIONS_OPTIONS, Connections, type ConnectionsOptions } from './connections.ts';
import type { Deadline } from './deadline.ts';
import { type ExchangeRequest, type ExchangeResponse, exchange, StaleConnection } from './exchange.ts';
import { type OwnAddresses, ownAddresses } from './interfaces.ts';
import { type Network, tcp } from './network.ts';
import { ParsedUrls } from './parsed-urls.ts';
import { Resolutions } from './resolutions.ts';
import { dnsResolver, type Resolver } from './resolve.ts';
import { trust } from './trust.ts';

/** The options that every guarded form takes. */
export interface GuardOptions extends ConnectionsOptions {
  /**
   * The policy that decides which destinations are allowed, made by `egressPolicy`. Default `egressPolicy()`: https to
   * the public internet.
   */
  readonly policy?: EgressPolicy;
  /** The resolver of names. Default: DNS, without hosts file and search domains. */
  readonly resolver?: Resolver;
  /** The network that connects. Default: TCP. Tests replace it to simulate the public internet. */
  readonly network?: Network;
}

/** A phase of a request, in their order; a kept connection needs neither `connect` nor `tls`. */
export type Phase = 'resolve' | 'connect' | 'tls' | 'request' | 'response';

/** The names of the options that every guarded form takes. */
export const DESTINATION_OPTIONS: OptionNames<Pick<GuardOptions, 'policy' | 'resolver' | 'network'>> = {
  policy: true,
  resolver: true,
  network: true,
};

/** The names of {@link GuardOptions}. */
export const GUARD_OPTIONS: OptionNames<GuardOptions> = { ...DESTINATION_OPTIONS, ...CONNECTIONS_OPTIONS };

/** When a request may be sent again after a stale connection: always, only if no byte of it was sent, or never. */
export type Repeated = 'always' | 'if-unsent' | 'never';

/**
 * The path to a destination that every form shares: check the URL, resolve its name once, judge every answer, and only
 * then reuse a connection to one of the addresses, or dial one.
 */
export class Guard {
  readonly #policy: EgressPolicy;
  readonly #urls = new ParsedUrls();
  readonly #trust: SecureContext;
  readonly #resolutions: Resolutions;
  readonly #network: Network;
  readonly #isOwn: OwnAddresses = ownAddresses();
  readonly #connections: Connections;

  /**
   * @param form the function that got the options
   * @throws {TypeError} when `policy` is no policy, or a limit on connections is not a whole number
   */
  constructor(
    form: string,
    { policy = egressPolicy(), resolver = dnsResolver, network = tcp, ...limits }: GuardOptions,
  ) {
    requirePolicy(form, policy);
    this.#network = network;
    this.#policy = policy;
    this.#trust = trust(policy.ca);
    this.#resolutions = new Resolutions(resolver);
    this.#connections = new Connections(limits);
  }

  /** Checks a URL against the policy. @throws {EgressError} `url_rejected` */
  check(text: string): CheckedUrl {
    const checked = this.#urls.check(text, this.#policy);
    if (checked.ok) return checked.url;
    throw new EgressError('url_rejected', checked.reason, { rejection: checked.reason });
  }

  /**
   * Sends one request, over a kept connection or a new one. When the kept connection turns out to be closed, the
   * request is sent again over a new one, if `repeated` permits it.
   *
   * @param onPhase called when a phase begins
   * @throws {EgressError} when the destination is denied, or the exchange fails
   */
  async send(
    url: CheckedUrl,
    request: ExchangeRequest,
    deadline: Deadline,
    repeated: Repeated,
    onPhase?: (phase: Phase) => void,
  ): Promise<ExchangeResponse> {
    deadline.throwIfEnded();
    onPhase?.('resolve');
    const addresses = await this.#addressesOf(url, deadline);
    const kept = repeated === 'never' ? undefined : this.#connections.take(url, addresses);
    if (kept !== undefined) {
      try {
        return await this.#exchangeOn(kept, request, deadline);
      } catch (error) {
        if (!(error instanceof StaleConnection)) throw error;
        if (!error.isUnsent && repeated !== 'always')
          throw new EgressError('protocol_error', 'stale', { cause: error });
      }
    }
    const fresh = this.#connections.add(url, await this.#dial(url, addresses, deadline, onPhase));
    return this.#exchangeOn(fresh, request, deadline).catch((error: unknown) => {
      throw error instanceof StaleConnection ? new EgressError('protocol_error', 'closed', { cause: error }) : error;
    });
  }

  /**
   * Opens a connection of its own, for clients that speak HTTP themselves. The caller closes it.
   *
   * @throws {EgressError} `destination_unavailable`, `tls_failed`, `timeout`, `aborted`
   */
  async open(url: CheckedUrl, deadline: Deadline): Promise<Socket> {
    deadline.throwIfEnded();
    const { socket } = await this.#dial(url, await this.#addressesOf(url, deadline), deadline);
    return socket;
  }

  /** The numbers of connections. */
  get connections(): { readonly idle: number; readonly busy: number } {
    return this.#connections.size;
  }

  /** Closes the kept connections, and ends the running requests. */
  close(): void {
    this.#connections.close();
  }

  async #exchangeOn(connection: Connection, request: ExchangeRequest, deadline: Deadline): Promise<ExchangeResponse> {
    try {
      const response = await exchange(connection, request, deadline);
      if (response.mayPersist) this.#connections.release(connection, response.keepAliveMs);
      else this.#connections.discard(connection);
      return response;
    } catch (error) {
      this.#connections.discard(connection);
      throw error;
    }
  }

  #dial(
    { protocol, hostname, port }: CheckedUrl,
    addresses: readonly Address[],
    deadline: Deadline,
    onPhase?: (phase: Phase) => void,
  ): Promise<Dialled> {
    return dial({ protocol, hostname, port, addresses, trust: this.#trust, network: this.#network, deadline, onPhase });
  }

  /** Resolves the host of the URL for this call, and judges every address. */
  async #addressesOf(url: CheckedUrl, deadline: Deadline): Promise<readonly Address[]> {
    // The check of the URL has already judged a literal address and the name localhost.
    if (url.literal !== undefined) {
      if (!isLoopback(url.literal) && this.#isOwn(url.literal)) throw unavailable('own-address');
      return [url.literal];
    }
    if (url.localhost) return LOOPBACK_ADDRESSES;
    const answers = await this.#resolve(url.hostname, deadline);
    const check = checkAnswers(answers, this.#policy, url.port, this.#isOwn);
    if (!check.ok) throw unavailable(check.reason);
    // A public name that resolves to loopback is an attack, even when the policy opens localhost.
    if (check.addresses.some(isLoopback)) throw unavailable('loopback');
    return check.addresses;
  }

  async #resolve(hostname: string, deadline: Deadline): Promise<readonly string[]> {
    try {
      return await this.#resolutions.resolve(hostname, deadline);
    } catch (error) {
      throw deadline.ended ?? unavailable('dns', error);
    }
  }
}

function unavailable(reason: string, cause?: unknown): EgressError {
  return new EgressError('destination_unavailable', reason, { cause });
}

const LOOPBACK_ADDRESSES: readonly Address[] = ['127.0.0.1', '::1'].flatMap((text) => parseAddress(text) ?? []);
