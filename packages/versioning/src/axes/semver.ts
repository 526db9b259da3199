/** A parsed semantic version without its build metadata, which has no part in comparisons. @see https://semver.org */
export interface SemanticVersion {
  /** Decimal digits without leading zeros, so that no number is too long to compare. */
  readonly numbers: readonly [major: string, minor: string, patch: string];
  /** The identifiers after the dash; empty for a release. */
  readonly prerelease: readonly string[];
}

const NUMBER = '(?:0|[1-9][0-9]*)';
const IDENTIFIER = `(?:${NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)`;
const BUILD = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const FORM = new RegExp(
  `^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})(?:-(${IDENTIFIER}(?:\\.${IDENTIFIER})*))?(?:\\+${BUILD})?$`,
);

/**
 * Parses a semantic version of at most 256 characters.
 *
 * @returns undefined for a malformed or longer text
 * @example
 * import { parseSemanticVersion } from '@svc/versioning/axes';
 *
 * parseSemanticVersion('1.4.0-rc.1'); // { numbers: ['1', '4', '0'], prerelease: ['rc', '1'] }
 */
export function parseSemanticVersion(text: string): SemanticVersion | undefined {
  if (text.length > 256) return undefined;
  const [, major, minor, patch, prerelease] = FORM.exec(text) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  return { numbers: [major, minor, patch], prerelease: prerelease?.split('.') ?? [] };
}

/**
 * Compares by precedence: negative when `a` is lower than `b`, 0 when they are equal.
 *
 * @example
 * import { compareSemanticVersions, parseSemanticVersion } from '@svc/versioning/axes';
 *
 * const versions = ['1.10.0', '1.9.0'].flatMap((text) => parseSemanticVersion(text) ?? []);
 * versions.sort(compareSemanticVersions); // 1.9.0, 1.10.0
 */
export function compareSemanticVersions(a: SemanticVersion, b: SemanticVersion): number {
  for (const [index, number] of a.numbers.entries()) {
    const order = compareNumbers(number, b.numbers[index] ?? '0');
    if (order !== 0) return order;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return b.prerelease.length - a.prerelease.length;
  for (const [index, one] of a.prerelease.entries()) {
    const other = b.prerelease[index];
    if (other === undefined) return 1;
    const order = compareIdentifiers(one, other);
    if (order !== 0) return order;
  }
  return a.prerelease.length - b.prerelease.length;
}

/**
 * Returns true when a version lies in a range: comparators (`>=1.2.0`, `<2.0.0`, `=1.0.0`, `^1.2.3`, `~1.2.3`, `1.2.3`,
 * `*`) joined by spaces, all of which must hold, with `||` between alternatives. A pre-release lies only in a range
 * that names a pre-release of the same three numbers.
 *
 * @returns undefined for a malformed range, or one of more than 256 characters
 * @example
 * import { inSemanticRange, parseSemanticVersion } from '@svc/versioning/axes';
 *
 * const version = parseSemanticVersion('1.4.0');
 * if (version !== undefined) inSemanticRange(version, '^1.2.3 || >=3.0.0'); // true
 */
export function inSemanticRange(version: SemanticVersion, range: string): boolean | undefined {
  if (range.length > 256) return undefined;
  let isIn = false;
  for (const alternative of range.split('||')) {
    const comparators = alternative
      .trim()
      .split(/ +/)
      .filter((text) => text !== '')
      .map(boundsOf);
    if (comparators.length === 0 || comparators.includes(undefined)) return undefined;
    const known = comparators.flatMap((bounds) => bounds ?? []);
    const admitsPrerelease =
      version.prerelease.length === 0 || known.some(({ at }) => at.prerelease.length > 0 && sameNumbers(at, version));
    if (admitsPrerelease && known.every((bound) => holds(version, bound))) isIn = true;
  }
  return isIn;
}

interface Bound {
  readonly sign: '>=' | '>' | '<=' | '<' | '=';
  readonly at: SemanticVersion;
}

/** Returns the bounds of one comparator, or undefined when it is malformed. */
function boundsOf(text: string): readonly Bound[] | undefined {
  if (text === '*') return [];
  const [, sign = '', rest = ''] = /^(>=|<=|>|<|=|\^|~)?(.+)$/.exec(text) ?? [];
  const at = parseSemanticVersion(rest);
  if (at === undefined) return undefined;
  if (sign === '^' || sign === '~')
    return [
      { sign: '>=', at },
      { sign: '<', at: ceilingOf(at, sign) },
    ];
  return [{ sign: sign === '' ? '=' : (sign as Bound['sign']), at }];
}

/** Returns the lowest version above the range: the `-0` pre-release, so that its pre-releases are excluded too. */
function ceilingOf({ numbers: [major, minor, patch] }: SemanticVersion, sign: '^' | '~'): SemanticVersion {
  const next = (digits: string) => String(BigInt(digits) + 1n);
  const numbers =
    sign === '~' || (major === '0' && minor !== '0')
      ? ([major, next(minor), '0'] as const)
      : major !== '0'
        ? ([next(major), '0', '0'] as const)
        : ([major, minor, next(patch)] as const);
  return { numbers, prerelease: ['0'] };
}

function holds(version: SemanticVersion, { sign, at }: Bound): boolean {
  const order = compareSemanticVersions(version, at);
  if (sign === '=') return order === 0;
  if (sign.startsWith('>')) return sign === '>=' ? order >= 0 : order > 0;
  return sign === '<=' ? order <= 0 : order < 0;
}

function sameNumbers(a: SemanticVersion, b: SemanticVersion): boolean {
  return a.numbers.every((number, index) => number === b.numbers[index]);
}

function compareIdentifiers(a: string, b: string): number {
  const [isNumber, otherIsNumber] = [/^[0-9]+$/.test(a), /^[0-9]+$/.test(b)];
  if (isNumber && otherIsNumber) return compareNumbers(a, b);
  if (isNumber !== otherIsNumber) return isNumber ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Compares digits without leading zeros, where the longer number is the greater one. */
function compareNumbers(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a === b ? 0 : a < b ? -1 : 1;
}
