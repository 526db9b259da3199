/** A semantic version, without what follows a plus sign in comparisons. @see https://semver.org */
export interface SemanticVersion {
  readonly numbers: readonly [major: string, minor: string, patch: string];
  /** The identifiers behind the dash; none for a release. */
  readonly prerelease: readonly string[];
}

const NUMBER = '(?:0|[1-9][0-9]*)';
const IDENTIFIER = `(?:${NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)`;
const FORM = new RegExp(
  `^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})(?:-(${IDENTIFIER}(?:\\.${IDENTIFIER})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);

export function parseSemanticVersion(text: string): SemanticVersion | undefined {
  if (text.length > 256) return undefined;
  const [, major, minor, patch, prerelease] = FORM.exec(text) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  return { numbers: [major, minor, patch], prerelease: prerelease?.split('.') ?? [] };
}

/** Negative when `a` has the lower precedence. */
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
 * Whether a version lies in a range: comparators (`>=1.2.0`, `<2.0.0`, `=1.0.0`, `^1.2.3`, `~1.2.3`, `1.2.3`, `*`) joined by spaces, all of
 * which must hold, with `||` between alternatives. A pre-release only lies in a range that names one of the same numbers.
 *
 * @returns undefined for a text that is no range
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

/** The bounds that one comparator stands for; undefined when it is none. */
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

/** The first version that is no longer compatible. Its pre-releases are not either. */
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

/** Without leading zeros, the longer number is the greater one. */
function compareNumbers(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a === b ? 0 : a < b ? -1 : 1;
}
