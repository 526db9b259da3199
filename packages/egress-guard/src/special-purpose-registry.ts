/**
 * The date of the IANA special-purpose address registries whose rows the guard uses.
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
export const REGISTRY_AS_OF = '2025-10-09';

/** The registry's column "Globally Reachable". `not-stated`: the cell is empty or N/A. */
export type Reachability = 'reachable' | 'unreachable' | 'not-stated';

/** A row: the block, our short name for logs, and its reachability by the registry. */
export type RegistryRow = readonly [cidr: string, name: string, reachability: Reachability];

/** The rows of the IPv4 registry. */
export const IPV4_SPECIAL_PURPOSE: readonly RegistryRow[] = [
  ['0.0.0.0/8', 'this-network', 'unreachable'],
  ['0.0.0.0/32', 'this-host', 'unreachable'],
  ['10.0.0.0/8', 'private', 'unreachable'],
  ['100.64.0.0/10', 'shared', 'unreachable'],
  ['127.0.0.0/8', 'loopback', 'unreachable'],
  ['169.254.0.0/16', 'link-local', 'unreachable'],
  ['172.16.0.0/12', 'private', 'unreachable'],
  ['192.0.0.0/24', 'ietf-protocol', 'unreachable'],
  ['192.0.0.0/29', 'service-continuity', 'unreachable'],
  ['192.0.0.8/32', 'dummy', 'unreachable'],
  ['192.0.0.9/32', 'port-control-anycast', 'reachable'],
  ['192.0.0.10/32', 'turn-anycast', 'reachable'],
  ['192.0.0.170/32', 'nat64-discovery', 'unreachable'],
  ['192.0.0.171/32', 'nat64-discovery', 'unreachable'],
  ['192.0.2.0/24', 'documentation', 'unreachable'],
  ['192.31.196.0/24', 'as112', 'reachable'],
  ['192.52.193.0/24', 'amt', 'reachable'],
  ['192.88.99.0/24', '6to4-relay', 'not-stated'],
  ['192.88.99.2/32', '6a44-relay', 'unreachable'],
  ['192.168.0.0/16', 'private', 'unreachable'],
  ['192.175.48.0/24', 'as112', 'reachable'],
  ['198.18.0.0/15', 'benchmarking', 'unreachable'],
  ['198.51.100.0/24', 'documentation', 'unreachable'],
  ['203.0.113.0/24', 'documentation', 'unreachable'],
  ['240.0.0.0/4', 'reserved', 'unreachable'],
  ['255.255.255.255/32', 'broadcast', 'unreachable'],
];

/** The rows of the IPv6 registry. */
export const IPV6_SPECIAL_PURPOSE: readonly RegistryRow[] = [
  ['::1/128', 'loopback', 'unreachable'],
  ['::/128', 'unspecified', 'unreachable'],
  ['::ffff:0:0/96', 'ipv4-mapped', 'unreachable'],
  ['64:ff9b::/96', 'nat64', 'reachable'],
  ['64:ff9b:1::/48', 'nat64-local', 'unreachable'],
  ['100::/64', 'discard', 'unreachable'],
  ['100:0:0:1::/64', 'dummy', 'unreachable'],
  ['2001::/23', 'ietf-protocol', 'unreachable'],
  ['2001::/32', 'teredo', 'not-stated'],
  ['2001:1::1/128', 'port-control-anycast', 'reachable'],
  ['2001:1::2/128', 'turn-anycast', 'reachable'],
  ['2001:1::3/128', 'dns-sd-anycast', 'reachable'],
  ['2001:2::/48', 'benchmarking', 'unreachable'],
  ['2001:3::/32', 'amt', 'reachable'],
  ['2001:4:112::/48', 'as112', 'reachable'],
  ['2001:10::/28', 'orchid', 'not-stated'],
  ['2001:20::/28', 'orchid', 'reachable'],
  ['2001:30::/28', 'drone-remote-id', 'reachable'],
  ['2001:db8::/32', 'documentation', 'unreachable'],
  ['2002::/16', '6to4', 'not-stated'],
  ['2620:4f:8000::/48', 'as112', 'reachable'],
  ['3fff::/20', 'documentation', 'unreachable'],
  ['5f00::/16', 'segment-routing', 'unreachable'],
  ['fc00::/7', 'unique-local', 'unreachable'],
  ['fe80::/10', 'link-local', 'unreachable'],
];
