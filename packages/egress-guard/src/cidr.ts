import ipaddr from 'ipaddr.js';
import { type Address, parseAddress } from './address.ts';

/** A block of addresses of one family, as the operator or a registry writes it: `10.0.0.0/8`, `fd00::/8`. */
export interface Cidr {
  /** The first address of the block: 4 bytes for IPv4, 16 for IPv6. */
  readonly base: Address;
  /** The length of the prefix: 0 to 32 for IPv4, 0 to 128 for IPv6. */
  readonly bits: number;
}

/**
 * Reads a block written as `address/bits`. The address has the plain form that `parseAddress` accepts, and no bit is
 * set behind the prefix.
 *
 * Two parsers must agree on the block, because a block that is parsed wrongly would deny nothing: the network address
 * that `ipaddr.js` computes must have the bytes that `parseAddress` returns. So the other forms that `ipaddr.js`
 * accepts (octal, hexadecimal and short numbers, zones) are refused, and so is `::192.0.2.1/128`, which it reads as a
 * mapped address.
 *
 * @returns the block; undefined for any other text
 * @example
 * import { inCidr, parseAddress, parseCidr } from '@svc/egress-guard';
 *
 * const block = parseCidr('10.0.0.0/8');
 * const address = parseAddress('10.1.2.3');
 * if (block !== undefined && address !== undefined) console.log(inCidr(address, block)); // true
 */
export function parseCidr(text: string): Cidr | undefined {
  const [plain = ''] = text.split('/', 1);
  const base = parseAddress(plain);
  if (base === undefined) return undefined;
  const family = base.length === 4 ? ipaddr.IPv4 : ipaddr.IPv6;
  if (!family.isValidCIDR(text)) return undefined;
  const [, bits] = family.parseCIDR(text);
  if (text !== `${plain}/${bits}`) return undefined;
  const network = family.networkAddressFromCIDR(text).toByteArray();
  return base.every((byte, index) => byte === network[index]) ? { base, bits } : undefined;
}

/**
 * Whether an address lies in a block. An address of the other family does not; a mapped IPv4 address counts as IPv6
 * here.
 *
 * @example
 * import { inCidr, parseAddress, parseCidr } from '@svc/egress-guard';
 *
 * const block = parseCidr('fd00::/8');
 * const address = parseAddress('fd00::1');
 * if (block !== undefined && address !== undefined) console.log(inCidr(address, block)); // true
 */
export function inCidr(address: Address, { base, bits }: Cidr): boolean {
  if (address.length !== base.length) return false;
  const whole = bits >> 3;
  for (let index = 0; index < whole; index++) if (address[index] !== base[index]) return false;
  const rest = bits & 7;
  if (rest === 0) return true;
  const mask = (0xff << (8 - rest)) & 0xff;
  return (((address[whole] ?? 0) ^ (base[whole] ?? 0)) & mask) === 0;
}
