/**
 * Parses the eight groups of an IP address. An IPv4 address has those of its mapped IPv6 address. A zone (`%eth0`) is
 * ignored. Returns undefined for a text that is not an address.
 */
export function groupsOf(address: string): readonly number[] | undefined {
  const text = address.replace(/%.*$/, '');
  if (text.length > 45) return undefined;
  const dotted = /^(.*?)((?:\d{1,3}\.){3}\d{1,3})$/.exec(text);
  const bytes = dotted?.[2]?.split('.').map(Number);
  if (bytes?.some((byte) => byte > 255)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = bytes ?? [];
  const tail = bytes === undefined ? [] : [(a << 8) | b, (c << 8) | d];
  const front = dotted === null ? text : (dotted[1] ?? '');
  if (dotted !== null && front === '') return [...MAPPED, ...tail];
  return expanded(dotted === null ? front : front.replace(/:$/, front.endsWith('::') ? ':' : ''), tail);
}

/** Returns the dotted form of an IPv4 address; undefined when the groups are of another IPv6 address. */
export function dottedForm(groups: readonly number[]): string | undefined {
  if (!MAPPED.every((group, index) => groups[index] === group)) return undefined;
  return groups
    .slice(-2)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}

/** The groups in front of an IPv4 address. @see RFC 4291, section 2.5.5.2 */
const MAPPED = [0, 0, 0, 0, 0, 0xffff];

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
