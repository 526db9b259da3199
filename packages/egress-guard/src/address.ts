/** An IP address as its 4 or 16 bytes. Text is parsed once; every judgement is over the bytes. */
export type Address = Uint8Array;

/**
 * Reads an address in its plain form: four decimal numbers without leading zeros, or RFC 4291 text without a zone. Everything
 * else, a number in another base included, is not an address.
 */
export function parseAddress(text: string): Address | undefined {
  return text.includes(':') ? parseV6(text) : parseV4(text);
}

/** The IPv4 address inside `::ffff:0:0/96`, or the address as it is. */
export function unmapped(address: Address): Address {
  if (address.length !== 16) return address;
  for (let index = 0; index < 10; index++) if (address[index] !== 0) return address;
  return address[10] === 0xff && address[11] === 0xff ? address.subarray(12) : address;
}

/** Whether two addresses are the same, a mapped IPv4 address being the IPv4 address. */
export function sameAddress(a: Address, b: Address): boolean {
  const left = unmapped(a);
  const right = unmapped(b);
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

/** The address as text that `node:net` dials without a resolution. */
export function formatAddress(address: Address): string {
  if (address.length === 4) return address.join('.');
  const groups: string[] = [];
  for (let index = 0; index < 16; index += 2) {
    groups.push((((address[index] ?? 0) << 8) | (address[index + 1] ?? 0)).toString(16));
  }
  return groups.join(':');
}

function parseV4(text: string): Address | undefined {
  if (text.length > 15) return undefined;
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  const address = new Uint8Array(4);
  for (const [index, part] of parts.entries()) {
    if (!/^(?:0|[1-9][0-9]{0,2})$/.test(part) || Number(part) > 255) return undefined;
    address[index] = Number(part);
  }
  return address;
}

function parseV6(text: string): Address | undefined {
  if (text.length > 45) return undefined;
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = groupsOf(halves[0] ?? '', halves.length === 1);
  const tail = halves.length === 2 ? groupsOf(halves[1] ?? '', true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 16 - head.length - tail.length;
  // `::` stands for at least one group.
  if (halves.length === 2 ? missing < 2 : missing !== 0) return undefined;
  return Uint8Array.from([...head, ...new Array<number>(missing).fill(0), ...tail]);
}

/** The bytes of colon-separated groups; the last may be a dotted IPv4 address where the address ends with it. */
function groupsOf(text: string, atEnd: boolean): number[] | undefined {
  if (text === '') return [];
  const groups = text.split(':');
  const bytes: number[] = [];
  for (const [index, group] of groups.entries()) {
    if (atEnd && index === groups.length - 1 && group.includes('.')) {
      const embedded = parseV4(group);
      if (embedded === undefined) return undefined;
      bytes.push(...embedded);
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
    }
  }
  return bytes;
}
