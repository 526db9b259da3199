import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { type Address, parseAddress } from '../address.ts';
import { checkAnswers } from '../answers.ts';
import { isLoopback } from '../classify.ts';
import { EgressError } from '../errors.ts';
import type { EgressPolicy } from '../policy.ts';
import { type CheckedUrl, checkUrl } from '../url.ts';
import { type Dialled, dial } from './connect.ts';
import type { Connection } from './connection.ts';
import { Connections, type ConnectionsOptions } from './connections.ts';
import type { Deadline } from './deadline.ts';
import { type ExchangeRequest, type ExchangeResponse, exchange, StaleConnection } from './exchange.ts';
import { type OwnAddresses, ownAddresses } from './interfaces.ts';
import { type Network, tcp } from './network.ts';
import { dnsResolver, type Resolver } from './resolve.ts';
import { trust } from './trust.ts';

/** What every guarded form takes. */
export interface GuardOptions extends ConnectionsOptions {
  readonly policy: EgressPolicy;
  /** PEM certificate authorities trusted beside the runtime's. */
  readonly ca?: readonly string[];
  /** Default: DNS itself, without hosts file and search domains. */
  readonly resolver?: Resolver;
  /** Default: TCP. For tests, which cannot have the public internet. */
  readonly network?: Network;
}

/** Whether a request may be sent once more: whatever became of the first, only if nothing of it has left, or not at all. */
export type Repeated = 'always' | 'if-unsent' | 'never';

/**
 * The way out that every form shares: check the URL, resolve its name once, judge every answer, and only then take a connection to
 * one of them, or dial it.
 */
export class Guard {
  readonly #policy: EgressPolicy;
  readonly #trust: SecureContext;
  readonly #resolver: Resolver;
  readonly #network: Network;
  readonly #isOwn: OwnAddresses = ownAddresses();
  readonly #connections: Connections;

  constructor({ policy, ca = [], resolver = dnsResolver, network = tcp, ...limits }: GuardOptions) {
    this.#network = network;
    this.#policy = policy;
    this.#trust = trust(ca);
    this.#resolver = resolver;
    this.#connections = new Connections(limits);
  }

  /** @throws {EgressError} `url_rejected` */
  check(text: string): CheckedUrl {
    const checked = checkUrl(text, this.#policy);
    if (checked.ok) return checked.url;
    throw new EgressError('url_rejected', checked.reason, { rejection: checked.reason });
  }

  /**
   * One request, over a connection that may serve it or a new one. A kept connection that turns out to be closed costs one more try,
   * as far as the request may be `repeated`.
   *
   * @throws {EgressError}
   */
  async send(
    url: CheckedUrl,
    request: ExchangeRequest,
    deadline: Deadline,
    repeated: Repeated,
  ): Promise<ExchangeResponse> {
    deadline.throwIfEnded();
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
    const fresh = this.#connections.add(url, await this.#dial(url, addresses, deadline));
    return this.#exchangeOn(fresh, request, deadline).catch((error: unknown) => {
      throw error instanceof StaleConnection ? new EgressError('protocol_error', 'closed', { cause: error }) : error;
    });
  }

  /** A connection of its own, for clients that speak HTTP themselves. Whoever takes it closes it. */
  async open(url: CheckedUrl, deadline: Deadline): Promise<Socket> {
    deadline.throwIfEnded();
    const { socket } = await this.#dial(url, await this.#addressesOf(url, deadline), deadline);
    return socket;
  }

  get connections(): { readonly idle: number; readonly busy: number } {
    return this.#connections.size;
  }

  close(): void {
    this.#connections.close();
  }

  async #exchangeOn(connection: Connection, request: ExchangeRequest, deadline: Deadline): Promise<ExchangeResponse> {
    try {
      const response = await exchange(connection, request, deadline);
      if (response.isComplete) this.#connections.release(connection);
      else this.#connections.discard(connection);
      return response;
    } catch (error) {
      this.#connections.discard(connection);
      throw error;
    }
  }

  #dial({ protocol, hostname, port }: CheckedUrl, addresses: readonly Address[], deadline: Deadline): Promise<Dialled> {
    return dial({ protocol, hostname, port, addresses, trust: this.#trust, network: this.#network, deadline });
  }

  /** Resolved for this call, and every one of them judged. */
  async #addressesOf(url: CheckedUrl, deadline: Deadline): Promise<readonly Address[]> {
    // The URL check has judged the literal, and opened localhost or not.
    if (url.literal !== undefined) {
      if (!isLoopback(url.literal) && this.#isOwn(url.literal)) throw unavailable('own-address');
      return [url.literal];
    }
    if (url.localhost) return LOOPBACK_ADDRESSES;
    const answers = await this.#resolve(url.hostname, deadline);
    const check = checkAnswers(answers, this.#policy, url.port, this.#isOwn);
    if (!check.ok) throw unavailable(check.reason);
    // A public name that points at this machine is the attack, even where localhost itself is open.
    if (check.addresses.some(isLoopback)) throw unavailable('loopback');
    return check.addresses;
  }

  async #resolve(hostname: string, deadline: Deadline): Promise<readonly string[]> {
    try {
      return await deadline.race(this.#resolver.resolve(hostname, { signal: deadline.signal }));
    } catch (error) {
      throw deadline.ended ?? unavailable('dns', error);
    }
  }
}

function unavailable(reason: string, cause?: unknown): EgressError {
  return new EgressError('destination_unavailable', reason, { cause });
}

const LOOPBACK_ADDRESSES: readonly Address[] = ['127.0.0.1', '::1'].flatMap((text) => parseAddress(text) ?? []);
