import { type Address, parseAddress } from './address.ts';

/** A block of addresses of one family. */
export interface Cidr {
  readonly base: Address;
  readonly bits: number;
}

/** Reads `address/bits`; undefined when it is not one, or when bits are set behind the prefix. */
export function parseCidr(text: string): Cidr | undefined {
  const [, address = '', length = ''] = /^([^/]+)\/(0|[1-9][0-9]{0,2})$/.exec(text) ?? [];
  const base = parseAddress(address);
  const bits = Number(length);
  if (base === undefined || length === '' || bits > base.length * 8) return undefined;
  const host = base.some((byte, index) => (byte & ~maskOf(bits - index * 8) & 0xff) !== 0);
  return host ? undefined : { base, bits };
}

/** Whether an address of the same family lies in the block. */
export function inCidr(address: Address, { base, bits }: Cidr): boolean {
  if (address.length !== base.length) return false;
  const whole = bits >> 3;
  for (let index = 0; index < whole; index++) if (address[index] !== base[index]) return false;
  const rest = bits & 7;
  if (rest === 0) return true;
  return (((address[whole] ?? 0) ^ (base[whole] ?? 0)) & maskOf(rest)) === 0;
}

/** The mask of one byte of which the first `bits` count. */
function maskOf(bits: number): number {
  if (bits <= 0) return 0;
  return bits >= 8 ? 0xff : (0xff << (8 - bits)) & 0xff;
}
