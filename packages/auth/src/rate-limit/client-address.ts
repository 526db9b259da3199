import { type OptionNames, requireKnown } from '../known-options.ts';
import { headerValues, type RequestHead } from '../request-head.ts';

/** Options of `clientAddress`. */
export interface ClientAddressOptions {
  /**
   * Returns whether an address is a proxy of the host that appends its client to `x-forwarded-for`. Default: none is.
   */
  readonly isTrustedPeer?: (address: string) => boolean;
}

const CLIENT_ADDRESS_OPTIONS: OptionNames<ClientAddressOptions> = { isTrustedPeer: true };

/**
 * Makes the function that identifies clients without a valid credential: by the address of their connection or, behind
 * trusted proxies, by the last address in `x-forwarded-for` that is not a trusted proxy. An IPv6 client counts by its
 * /64: one customer has all of its addresses.
 *
 * @returns a function that returns undefined when the platform does not give the peer
 * @example
 * const auth = authenticator({ lanes, refusals: { limiter, clientOf: clientAddress() } });
 * @see Interface: Limits
 */
export function clientAddress(options: ClientAddressOptions = {}): (request: RequestHead) => string | undefined {
  requireKnown('clientAddress', options, CLIENT_ADDRESS_OPTIONS);
  const { isTrustedPeer } = options;
  return (request) => {
    const peer = request.peer?.address;
    if (peer === undefined) return undefined;
    return networkOf(isTrustedPeer?.(peer) === true ? forwardedFor(request, peer, isTrustedPeer) : peer);
  };
}

/** Entries to the left of the first untrusted address were written by that client, so they are ignored. */
function forwardedFor(request: RequestHead, peer: string, isTrustedPeer: (address: string) => boolean): string {
  const hops = headerValues(request, 'x-forwarded-for')
    .join(',')
    .split(',')
    .map((hop) => hop.trim());
  const client = hops.findLast((hop) => hop !== '' && !isTrustedPeer(hop));
  return client !== undefined && groupsOf(client) !== undefined ? client : peer;
}

/** Returns the network by which an address is counted. A text that is not an address is returned unchanged. */
function networkOf(address: string): string {
  const groups = groupsOf(address);
  if (groups === undefined) return address;
  const [a = 0, b = 0, c = 0, d = 0] = groups.slice(-2).flatMap((group) => [group >> 8, group & 255]);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped
    ? `${a}.${b}.${c}.${d}`
    : `${groups
        .slice(0, 4)
        .map((group) => group.toString(16))
        .join(':')}::/64`;
}

/** Parses the eight groups of an address. An IPv4 address has those of its mapped IPv6 address. */
function groupsOf(address: string): readonly number[] | undefined {
  const text = address.replace(/%.*$/, '');
  if (text.length > 45) return undefined;
  const dotted = /^(.*?)((?:\d{1,3}\.){3}\d{1,3})$/.exec(text);
  const bytes = dotted?.[2]?.split('.').map(Number);
  if (bytes?.some((byte) => byte > 255)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = bytes ?? [];
  const tail = bytes === undefined ? [] : [(a << 8) | b, (c << 8) | d];
  const front = dotted === null ? text : (dotted[1] ?? '');
  if (dotted !== null && front === '') return [0, 0, 0, 0, 0, 0xffff, ...tail];
  return expanded(dotted === null ? front : front.replace(/:$/, front.endsWith('::') ? ':' : ''), tail);
}

function expanded(text: string, tail: readonly number[]): readonly number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [left = [], right] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const groups = [...left, ...(right ?? [])];
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  const missing = 8 - tail.length - groups.length;
  if (right === undefined ? missing !== 0 : missing < 1) return undefined;
  const numbers = (list: readonly string[]) => list.map((group) => Number.parseInt(group, 16));
  return [...numbers(left), ...Array.from({ length: missing }, () => 0), ...numbers(right ?? []), ...tail];
}
