/** A protocol major that this package knows. */
export type Major = 1 | 2;

export const MAJORS: readonly Major[] = [1, 2];

/** `<major>.<minor>`, each without leading zeros. */
export interface Version {
  readonly major: number;
  readonly minor: number;
}

/** @see Interface: Versioning, Advertisement, 1 */
export function parseVersion(text: string): Version | undefined {
  const match = /^(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})$/.exec(text);
  return match === null ? undefined : { major: Number(match[1]), minor: Number(match[2]) };
}

/** The major that a `SVC-Version` value selects: `<major>` or `<major>.<minor>`. */
export function parseSelector(text: string): number | undefined {
  if (/^(0|[1-9][0-9]{0,8})$/.test(text)) return Number(text);
  return parseVersion(text)?.major;
}

/** Negative when `a` is the older. */
export function compareVersions(a: Version, b: Version): number {
  return a.major - b.major || a.minor - b.minor;
}
