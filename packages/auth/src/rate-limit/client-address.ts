import { type OptionNames, requireKnown } from '../known-options.ts';
import type { RequestHead } from '../request-head.ts';
import { dottedForm, groupsOf } from './address-groups.ts';
import { type ForwardedHeader, forwardedHops } from './forwarded-hops.ts';

/** Options of `clientAddress`. */
export interface ClientAddressOptions {
  /**
   * Returns whether an IP address is a proxy of the host, which appends the address of its client to `header`. The
   * address has no port; an IPv4 address is dotted. Default: none is.
   */
  readonly isTrustedPeer?: (address: string) => boolean;
  /** The one header that is read, in lower case. Choose what the proxies write. Default `x-forwarded-for`. */
  readonly header?: ForwardedHeader;
  /**
   * Most proxies in a row that are trusted, the peer included: a whole number, at least 1. The address before them is
   * the client, even if `isTrustedPeer` trusts it. Default: no limit.
   */
  readonly hops?: number;
}

const CLIENT_ADDRESS_OPTIONS: OptionNames<ClientAddressOptions> = { isTrustedPeer: true, header: true, hops: true };

/**
 * Makes the function that identifies clients without a valid credential: by the address of their connection or, behind
 * trusted proxies, by the last address in the header that is not a trusted proxy. Addresses may have a port; those of
 * IPv6 may be in brackets. An IPv6 client counts by its /64: one customer has all of its addresses.
 *
 * The client itself may send the header, so entries to the left of the first untrusted address are ignored. Where a
 * proxy wrote no address, the peer counts as the client.
 *
 * @returns a function that returns undefined when the platform does not give the peer
 * @throws {TypeError} when `header` or `hops` is invalid
 * @example
 * const clientOf = clientAddress({ isTrustedPeer: (address) => address === '10.0.0.1', hops: 1 });
 * const auth = authenticator({ lanes, refusals: { limiter, clientOf } });
 * @see Interface: Limits; RFC 7239, section 5.2
 */
export function clientAddress(options: ClientAddressOptions = {}): (request: RequestHead) => string | undefined {
  requireKnown('clientAddress', options, CLIENT_ADDRESS_OPTIONS);
  const { isTrustedPeer, header = 'x-forwarded-for', hops = Number.POSITIVE_INFINITY } = options;
  if (header !== 'x-forwarded-for' && header !== 'forwarded') {
    throw new TypeError('clientAddress: header must be "x-forwarded-for" or "forwarded".');
  }
  if (hops !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(hops) && hops >= 1)) {
    throw new TypeError('clientAddress: hops must be a whole number, at least 1.');
  }
  return (request) => {
    const peer = request.peer?.address;
    if (peer === undefined) return undefined;
    return networkOf(isTrusted(peer) ? clientBehind(peer, request) : peer);
  };

  function clientBehind(peer: string, request: RequestHead): string {
    let trusted = 1;
    for (const hop of forwardedHops(request, header).toReversed()) {
      if (hop === undefined) return peer;
      if (trusted >= hops || !isTrusted(hop)) return hop;
      trusted += 1;
    }
    return peer;
  }

  /** A socket for both families gives an IPv4 address in its mapped form, which no list of IPv4 ranges has. */
  function isTrusted(address: string): boolean {
    if (isTrustedPeer === undefined) return false;
    const groups = groupsOf(address);
    return isTrustedPeer((groups && dottedForm(groups)) ?? address.replace(/%.*$/, ''));
  }
}

/** Returns the network by which an address is counted. A text that is not an address is returned unchanged. */
function networkOf(address: string): string {
  const groups = groupsOf(address);
  if (groups === undefined) return address;
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return dottedForm(groups) ?? `${network.join(':')}::/64`;
}
