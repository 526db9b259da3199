import type { Address } from './address.ts';
import { type Cidr, inCidr, parseCidr } from './cidr.ts';
import { IPV4_SPECIAL_PURPOSE, IPV6_SPECIAL_PURPOSE, type RegistryRow } from './special-purpose-registry.ts';

/**
 * Returns the denied special range of an address, by the longest prefix; undefined for an address of the public
 * internet.
 *
 * The IANA registries decide: a block that they do not state to be globally reachable is denied. {@link BEYOND} adds
 * blocks that they omit, and blocks for which we are stricter.
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
  /** The name of the range for logs. */
  readonly name: string;
  readonly isDenied: boolean;
}

/** Our own rows. A row here takes precedence over the registry's row of the same block. */
const BEYOND: readonly RegistryRow[] = [
  // Multicast is not in the special-purpose registries; it has a registry of its own.
  ['224.0.0.0/4', 'multicast', 'unreachable'],
  ['ff00::/8', 'multicast', 'unreachable'],
  // Deprecated, but some network stacks still route it.
  ['fec0::/10', 'site-local', 'unreachable'],
  ['::/96', 'ipv4-compatible', 'unreachable'],
  ['::ffff:0:0:0/96', 'ipv4-translated', 'unreachable'],
  // IANA assigns global unicast addresses from 2000::/3 only.
  ['::/0', 'unallocated', 'unreachable'],
  ['2000::/3', 'global', 'reachable'],
  // The platform agent of Azure, outside any special block.
  ['168.63.129.16/32', 'platform', 'unreachable'],
  // Reachable by the registry, but a device of the own network answers.
  ['192.0.0.9/32', 'port-control-anycast', 'unreachable'],
  ['192.0.0.10/32', 'turn-anycast', 'unreachable'],
  ['2001:1::1/128', 'port-control-anycast', 'unreachable'],
  ['2001:1::2/128', 'turn-anycast', 'unreachable'],
  ['2001:1::3/128', 'dns-sd-anycast', 'unreachable'],
  // Reachable by the registry, but it leads to the IPv4 address inside; see `translated` of the policy.
  ['64:ff9b::/96', 'nat64', 'unreachable'],
];

const IPV4: readonly (readonly Range[])[] = byFirstByte(4, [...BEYOND, ...IPV4_SPECIAL_PURPOSE]);
const IPV6: readonly (readonly Range[])[] = byFirstByte(16, [...BEYOND, ...IPV6_SPECIAL_PURPOSE]);

/**
 * Lists the ranges for each first byte of an address, longest prefix first. Most addresses then need no comparison, or
 * one.
 */
function byFirstByte(length: 4 | 16, rows: readonly RegistryRow[]): Range[][] {
  const ranges = rows
    .map(([text, name, reachability]) => ({ cidr: requiredCidr(text), name, isDenied: reachability !== 'reachable' }))
    .filter(({ cidr }) => cidr.base.length === length)
    .sort((a, b) => b.cidr.bits - a.cidr.bits);
  const lists = Array.from({ length: 256 }, (): Range[] => []);
  for (const range of ranges) {
    const { base, bits } = range.cidr;
    const [first = 0] = base;
    const last = bits < 8 ? first + 2 ** (8 - bits) - 1 : first;
    for (let byte = first; byte <= last; byte++) lists[byte]?.push(range);
  }
  return lists;
}

function requiredCidr(text: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw new Error(`Registry row "${text}": is not a block of addresses.`);
  return cidr;
}
