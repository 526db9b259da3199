import { groupsOf } from './rate-limit/address-groups.ts';

/** The class of a client's address. `private` has the addresses of local networks, `unknown` texts of no address. */
export type AddressClass = 'loopback' | 'private' | 'public' | 'unknown';

/** Returns the class of an address, or of a /64 as `clientAddress` writes it. */
export function addressClass(address: string | undefined): AddressClass {
  const groups = address === undefined ? undefined : groupsOf(address.replace(/\/64$/, ''));
  if (groups === undefined) return 'unknown';
  const [first = 0, , , , , mapped, high = 0] = groups;
  if (mapped === 0xffff && groups.slice(0, 5).every((group) => group === 0)) return classOfIpv4(high >> 8, high & 255);
  // `clientAddress` writes ::1 as its /64, in which nothing else is.
  if (groups.slice(0, 7).every((group) => group === 0)) return 'loopback';
  return (first & 0xfe00) === 0xfc00 || (first & 0xffc0) === 0xfe80 ? 'private' : 'public';
}

/** @see RFC 1918; RFC 3927; RFC 6598 */
function classOfIpv4(first: number, second: number): AddressClass {
  if (first === 127) return 'loopback';
  const isPrivate =
    first === 10 ||
    (first === 172 && second >= 16 && second < 32) ||
    (first === 192 && second === 168) ||
    (first === 169 && second === 254) ||
    (first === 100 && second >= 64 && second < 128);
  return isPrivate ? 'private' : 'public';
}
