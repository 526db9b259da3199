/** A protocol major that this package knows. */
export type Major = 1 | 2;

/** `<major>.<minor>`, each a decimal integer of any length without leading zeros; kept as digits, so none is too long. */
export interface Version {
  readonly major: string;
  readonly minor: string;
}

/** @see Interface: Versioning, Advertisement, 1 */
export function parseVersion(text: string): Version | undefined {
  const [, major, minor] = VERSION.exec(text) ?? [];
  return major === undefined || minor === undefined ? undefined : { major, minor };
}

/** The digits of the major that a `SVC-Version` selects, which may be `<major>` or `<major>.<minor>`. */
export function parseSelector(text: string): string | undefined {
  return SELECTOR.exec(text)?.[1];
}

/** The major that digits name, when this package knows it. */
export function majorOf(digits: string | undefined): Major | undefined {
  return digits === '1' ? 1 : digits === '2' ? 2 : undefined;
}

/** Negative when `a` is the older, 0 when they are the same. */
export function compareVersions(a: Version, b: Version): number {
  return compareDigits(a.major, b.major) || compareDigits(a.minor, b.minor);
}

const VERSION = /^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$/;
const SELECTOR = /^(0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*))?$/;

/** Without leading zeros, the longer number is the greater one. */
function compareDigits(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a === b ? 0 : a < b ? -1 : 1;
}
