/** An IP address as its 4 or 16 bytes. Text is parsed once, and every judgement is about the bytes. */
export type Address = Uint8Array;

/**
 * Reads an address in its plain form: four decimal numbers without leading zeros, or RFC 4291 text without a zone. Any
 * other text is not an address, including octal, hexadecimal and short forms.
 *
 * @returns the bytes; undefined for any other text
 * @example
 * import { parseAddress } from '@svc/egress-guard';
 *
 * console.log(parseAddress('192.0.2.1')); // Uint8Array [192, 0, 2, 1]
 * console.log(parseAddress('0x7f.1')); // undefined
 */
export function parseAddress(text: string): Address | undefined {
  if (text.length < 2 || text.length > 45) return undefined;
  if (text.includes(':')) return parseIPv6(text);
  const first = text.charCodeAt(0);
  // Most texts are names; they must not cost an allocation.
  return first >= 0x30 && first <= 0x39 ? parseIPv4(text, 0, new Uint8Array(4), 0) : undefined;
}

/** Returns the IPv4 address inside `::ffff:0:0/96`, or else the address itself. */
export function unmapped(address: Address): Address {
  if (address.length !== 16 || address[10] !== 0xff || address[11] !== 0xff) return address;
  for (let index = 0; index < 10; index++) if (address[index] !== 0) return address;
  return address.subarray(12);
}

/** Returns the four bytes of an IPv6 address that begin at `place`. */
export function embeddedIPv4(address: Address, place: number): Address {
  return address.subarray(place, place + 4);
}

/** Whether two addresses are the same. A mapped IPv4 address equals the IPv4 address. */
export function sameAddress(a: Address, b: Address): boolean {
  const left = unmapped(a);
  const right = unmapped(b);
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false;
  return true;
}

/**
 * Writes an address as text that `node:net` dials without a resolution.
 *
 * @example
 * import { formatAddress } from '@svc/egress-guard';
 *
 * console.log(formatAddress(Uint8Array.of(192, 0, 2, 1))); // 192.0.2.1
 */
export function formatAddress(address: Address): string {
  if (address.length === 4) return address.join('.');
  const groups: string[] = [];
  for (let index = 0; index < 16; index += 2) {
    groups.push((((address[index] ?? 0) << 8) | (address[index + 1] ?? 0)).toString(16));
  }
  return groups.join(':');
}

const DOT = 0x2e;
const COLON = 0x3a;

/** Reads four decimal numbers from `start` to the end of the text into `into`; undefined for any other text. */
function parseIPv4(text: string, start: number, into: Uint8Array, place: number): Uint8Array | undefined {
  let part = 0;
  let value = 0;
  let digits = 0;
  for (let index = start; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === DOT) {
      if (digits === 0 || part === 3) return undefined;
      into[place + part] = value;
      part += 1;
      value = 0;
      digits = 0;
      continue;
    }
    const digit = code - 0x30;
    // Some readers take a leading zero for octal, others ignore it: the same text would name two addresses.
    if (digit < 0 || digit > 9 || (digits > 0 && value === 0)) return undefined;
    value = value * 10 + digit;
    digits += 1;
    if (value > 255) return undefined;
  }
  if (part !== 3 || digits === 0) return undefined;
  into[place + 3] = value;
  return into;
}

function parseIPv6(text: string): Address | undefined {
  const address = new Uint8Array(16);
  let place = 0;
  /** The place of `::` in bytes; -1 without one. */
  let gap = -1;
  let index = 0;
  if (text.charCodeAt(0) === COLON) {
    if (text.charCodeAt(1) !== COLON) return undefined;
    gap = 0;
    index = 2;
  }
  while (index < text.length) {
    const start = index;
    let value = 0;
    while (index < text.length && index - start < 5) {
      const digit = hexDigit(text.charCodeAt(index));
      if (digit < 0) break;
      value = value * 16 + digit;
      index += 1;
    }
    const length = index - start;
    if (length > 0 && text.charCodeAt(index) === DOT) {
      // The last 32 bits may be written as an IPv4 address.
      if (place > 12 || parseIPv4(text, start, address, place) === undefined) return undefined;
      place += 4;
      index = text.length;
      break;
    }
    if (length === 0 || length > 4 || place > 14) return undefined;
    address[place] = value >> 8;
    address[place + 1] = value & 0xff;
    place += 2;
    if (index === text.length) break;
    if (text.charCodeAt(index) !== COLON) return undefined;
    index += 1;
    if (text.charCodeAt(index) === COLON) {
      if (gap !== -1) return undefined;
      gap = place;
      index += 1;
    } else if (index === text.length) return undefined;
  }
  if (gap === -1) return place === 16 ? address : undefined;
  // `::` replaces at least one group.
  if (place > 14) return undefined;
  address.copyWithin(16 - (place - gap), gap, place);
  address.fill(0, gap, 16 - (place - gap));
  return address;
}

/** Returns the value of a hexadecimal digit; -1 for any other code, including NaN at the end of the text. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
