/** A protocol major that this package knows. */
export type Major = 1 | 2;

/** `<major>.<minor>`, each decimal digits without leading zeros. As text, a number of any length can be compared. */
export interface Version {
  readonly major: string;
  readonly minor: string;
}

/** Parses `<major>.<minor>`; returns undefined for a malformed text. @see Interface: Versioning, Advertisement, 1 */
export function parseVersion(text: string): Version | undefined {
  const [, major, minor] = VERSION.exec(text) ?? [];
  return major === undefined || minor === undefined ? undefined : { major, minor };
}

/** Returns the digits of the major in a `SVC-Version` of a request, which is `<major>` or `<major>.<minor>`. */
export function parseSelector(text: string): string | undefined {
  // Most requests: a pattern takes longer than the rest of a negotiation.
  if (text === '1' || text === '2') return text;
  return SELECTOR.exec(text)?.[1];
}

/** Returns the major for its digits, or undefined when this package does not know it. */
export function majorOf(digits: string | undefined): Major | undefined {
  return digits === '1' ? 1 : digits === '2' ? 2 : undefined;
}

/** Returns a negative number when `a` is older than `b`, 0 when they are equal. */
export function compareVersions(a: Version, b: Version): number {
  return compareDigits(a.major, b.major) || compareDigits(a.minor, b.minor);
}

const VERSION = /^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$/;
const SELECTOR = /^(0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*))?$/;

/** Compares digits without leading zeros, where the longer number is the greater one. */
function compareDigits(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a === b ? 0 : a < b ? -1 : 1;
}
