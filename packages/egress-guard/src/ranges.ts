import type { Address } from './address.ts';
import { type Cidr, inCidr, parseCidr } from './cidr.ts';
import { IPV4_SPECIAL_PURPOSE, IPV6_SPECIAL_PURPOSE, type RegistryRow } from './special-purpose-registry.ts';

/**
 * The special range that an address lies in, by the longest prefix; undefined for a plain address of the public internet.
 *
 * The IANA registries decide, and what they do not state to be globally reachable is denied. {@link BEYOND} adds what they omit and where
 * we are stricter.
 */
export function specialRange(address: Address): string | undefined {
  const candidates = (address.length === 4 ? IPV4 : IPV6)[address[0] ?? 0] ?? [];
  for (const { cidr, name, isDenied } of candidates) {
    if (inCidr(address, cidr)) return isDenied ? name : undefined;
  }
  return undefined;
}

interface Range {
  readonly cidr: Cidr;
  /** For logs. */
  readonly name: string;
  readonly isDenied: boolean;
}

/** A row here outranks the registry's row of the same block. */
const BEYOND: readonly RegistryRow[] = [
  // No registry of special purposes: multicast has one of its own.
  ['224.0.0.0/4', 'multicast', 'unreachable'],
  ['ff00::/8', 'multicast', 'unreachable'],
  // Retired, and still routed by some stacks.
  ['fec0::/10', 'site-local', 'unreachable'],
  ['::/96', 'ipv4-compatible', 'unreachable'],
  ['::ffff:0:0:0/96', 'ipv4-translated', 'unreachable'],
  // Nothing outside 2000::/3 is handed out.
  ['::/0', 'unallocated', 'unreachable'],
  ['2000::/3', 'global', 'reachable'],
  // One cloud's virtual machines reach its agent here, outside of any special block.
  ['168.63.129.16/32', 'platform', 'unreachable'],
  // Reachable by the registry, but what answers is a device of the own network.
  ['192.0.0.9/32', 'port-control-anycast', 'unreachable'],
  ['192.0.0.10/32', 'turn-anycast', 'unreachable'],
  ['2001:1::1/128', 'port-control-anycast', 'unreachable'],
  ['2001:1::2/128', 'turn-anycast', 'unreachable'],
  ['2001:1::3/128', 'dns-sd-anycast', 'unreachable'],
  // Reachable by the registry, but as the IPv4 address that is inside; see the policy's `translated`.
  ['64:ff9b::/96', 'nat64', 'unreachable'],
];

const IPV4: readonly (readonly Range[])[] = byFirstByte(4, [...BEYOND, ...IPV4_SPECIAL_PURPOSE]);
const IPV6: readonly (readonly Range[])[] = byFirstByte(16, [...BEYOND, ...IPV6_SPECIAL_PURPOSE]);

/** For each first byte the ranges that an address with it can lie in, longest prefix first: for most addresses none, or one. */
function byFirstByte(length: 4 | 16, rows: readonly RegistryRow[]): Range[][] {
  const ranges = rows
    .map(([text, name, reachability]) => ({ cidr: requiredCidr(text), name, isDenied: reachability !== 'reachable' }))
    .filter(({ cidr }) => cidr.base.length === length)
    .sort((a, b) => b.cidr.bits - a.cidr.bits);
  return Array.from({ length: 256 }, (_, byte) =>
    ranges.filter(({ cidr: { base, bits } }) =>
      inCidr(Uint8Array.of(byte), { base: base.subarray(0, 1), bits: Math.min(bits, 8) }),
    ),
  );
}

function requiredCidr(text: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw new Error(`Registry row "${text}": is not a block of addresses.`);
  return cidr;
}
