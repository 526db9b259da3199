import { type Cidr, parseCidr } from './cidr.ts';

/**
 * What is not an address of the public internet, longest prefix first within a family.
 *
 * Sources: the IANA IPv4 and IPv6 Special-Purpose Address Registries as of 2025-10, denied unless marked globally reachable;
 * beyond them multicast, the retired prefixes fec0::/10, ::/96 and ::ffff:0:0:0/96, the translation and tunnel prefixes (which
 * reach IPv4 addresses behind a gateway), and the platform address that one cloud serves outside of any private range.
 * Entries marked reachable are holes in a wider denied block.
 */
export interface Range {
  readonly cidr: Cidr;
  /** For logs. */
  readonly name: string;
  readonly reachable: boolean;
}

const V4: readonly (readonly [cidr: string, name: string])[] = [
  ['168.63.129.16/32', 'platform'],
  ['255.255.255.255/32', 'broadcast'],
  ['192.0.0.0/24', 'ietf-protocol'],
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', '6to4-relay'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['169.254.0.0/16', 'link-local'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmarking'],
  ['172.16.0.0/12', 'private'],
  ['100.64.0.0/10', 'shared'],
  ['0.0.0.0/8', 'this-network'],
  ['10.0.0.0/8', 'private'],
  ['127.0.0.0/8', 'loopback'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
];

const V6: readonly (readonly [cidr: string, name: string, reachable?: 'reachable'])[] = [
  ['::1/128', 'loopback'],
  ['::/128', 'unspecified'],
  ['::/96', 'ipv4-compatible'],
  ['::ffff:0:0/96', 'ipv4-mapped'],
  ['::ffff:0:0:0/96', 'ipv4-translated'],
  ['64:ff9b::/96', 'nat64'],
  ['64:ff9b:1::/48', 'nat64-local'],
  ['100::/64', 'discard'],
  ['100:0:0:1::/64', 'dummy'],
  ['2001:4:112::/48', 'as112', 'reachable'],
  ['2001:db8::/32', 'documentation'],
  ['2001:3::/32', 'amt', 'reachable'],
  ['2001::/32', 'teredo'],
  ['2001:20::/28', 'orchid', 'reachable'],
  ['2001:30::/28', 'drone-remote-id', 'reachable'],
  ['2001::/23', 'ietf-protocol'],
  ['3fff::/20', 'documentation'],
  ['2002::/16', '6to4'],
  ['5f00::/16', 'segment-routing'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'site-local'],
  ['ff00::/8', 'multicast'],
  ['fc00::/7', 'unique-local'],
  ['2000::/3', 'global', 'reachable'],
  ['::/0', 'unallocated'],
];

export const RANGES_V4: readonly Range[] = V4.map(([text, name]) => rangeOf(text, name, false));
export const RANGES_V6: readonly Range[] = V6.map(([text, name, mark]) => rangeOf(text, name, mark === 'reachable'));

function rangeOf(text: string, name: string, reachable: boolean): Range {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw new Error(`${text} is not a block of addresses.`);
  return { cidr, name, reachable };
}
