import { compareVersions, parseVersion, type Version } from '../version.ts';
import type { Axis } from './axis.ts';
import { readEngineVersion, readEventLogSchemaVersion } from './run-documents.ts';
import { compareSemanticVersions, inSemanticRange, parseSemanticVersion, type SemanticVersion } from './semver.ts';

export type { Axis } from './axis.ts';
export {
  ENGINE_VERSION_TEXT,
  EVENT_LOG_SCHEMA_VERSION,
  readEngineVersion,
  readEventLogSchemaVersion,
  type StoredRunVersions,
} from './run-documents.ts';
export { compareSemanticVersions, inSemanticRange, parseSemanticVersion, type SemanticVersion } from './semver.ts';

/**
 * The eighteen version axes. No two of them are comparable with each other.
 *
 * @see Interface: Versioning, Version axes
 */
export const AXES: readonly Axis[] = /* @__PURE__ */ everyAxis();

/** One pure call: a bundle of another export of this entry leaves the table out. */
function everyAxis(): readonly Axis[] {
  const INTEGER = { form: 'integer', accepts: Number.isSafeInteger, compare: compareIntegers };
  const PROTOCOL = {
    form: '`<major>.<minor>`',
    accepts: isProtocolVersion,
    compare: compareBy(protocolVersion, compareVersions),
  };
  const SEMVER = {
    form: 'semantic version',
    accepts: isSemanticVersion,
    compare: compareBy(semanticVersion, compareSemanticVersions),
  };
  return [
    axis(
      1,
      'protocolVersion',
      PROTOCOL,
      'the twin of `preferredVersion` for readers of major 1 through the overlap, then gone',
    ),
    axis(2, 'protocolVersions, preferredVersion', PROTOCOL, 'the versions that a request can select'),
    axis(
      3,
      'engineVersion',
      { form: 'integer, at least 0', accepts: isAtLeast(0), compare: compareIntegers },
      'at the root of discovery and on every carrier; a stored text is read as the integer and never rewritten',
    ),
    axis(
      4,
      'eventLogSchemaVersion',
      { form: 'integer, at least 2', accepts: isAtLeast(2), compare: compareIntegers },
      'a host of major 2 stamps 3 on every run that it creates; a stored run without one reads as 2',
    ),
    axis(5, 'schemaVersion of an event', INTEGER, 'on every event'),
    axis(
      6,
      'schemaVersions',
      { form: 'map of declared envelope kinds to integers', accepts: isMapOfIntegers },
      'every key is a declared kind',
    ),
    axis(
      7,
      'version.pinned',
      { form: '`{ min, max }`, integers', accepts: isPin },
      'the least and the greatest engine version',
    ),
    retired(8, 'contractProvenance', 'deleted'),
    axis(9, 'minimumSuiteVersion', SEMVER, 'in the declaration file, no longer in discovery'),
    axis(
      10,
      'bundleVersion',
      { form: '`"2"` or `"3"`', accepts: isBundleVersion },
      'constants: certification 3, export 2, debug 2',
    ),
    axis(
      11,
      'A2A protocol versions, preferredVersion',
      { form: '`^[0-9]+\\.[0-9]+$`', accepts: isTwoNumbers, compare: compareBy(twoNumbers, compareVersions) },
      'two integers joined by a dot',
    ),
    axis(
      12,
      'MCP revisions, preferredVersion',
      { form: 'date, `YYYY-MM-DD`', accepts: isDate, compare: compareTexts },
      'a calendar date',
    ),
    axis(
      13,
      'multiAgent.executionModel.version',
      { form: 'integer, 1 to 2', accepts: isExecutionModel, compare: compareIntegers },
      'bounded by its schema',
    ),
    axis(14, 'info.version of OpenAPI and AsyncAPI', SEMVER, 'generated from the release tag'),
    axis(15, 'minClientVersion', PROTOCOL, 'as axis 1; a host may refuse an older client with 426'),
    axis(
      16,
      'schemaVersion and compatibleWith of a channel',
      { form: 'integer; `{ min, max }`', accepts: isChannelVersion },
      'the version that a channel writes; the range that it can read',
    ),
    retired(17, 'webhook signature scheme', 'no longer a version axis; it is in the register of deprecations'),
    axis(
      18,
      'engines and registry version of a pack',
      { form: 'semantic version range; semantic version', accepts: isPackVersion },
      'a range without a ceiling admits only the major of its floor',
    ),
  ];
}

/** The `bundleVersion` of each kind of bundle. @see Interface: Versioning, Version axes, 10 */
export const BUNDLE_VERSIONS: Readonly<Record<'certification' | 'export' | 'debug', string>> = {
  certification: '3',
  export: '2',
  debug: '2',
};

/** The greatest `multiAgent.executionModel.version` of this version of the protocol. */
export const MAX_EXECUTION_MODEL = 2;

/**
 * Returns true when a pack's `engines` range admits an engine version. A range without a ceiling admits only the major
 * of its floor, because a pack cannot be tested against majors that do not exist yet.
 *
 * @returns undefined when the range or the version is malformed
 * @example
 * import { packRunsOn } from '@svc/versioning/axes';
 *
 * packRunsOn('>=1.2.0', '1.9.0'); // true
 * packRunsOn('>=1.2.0', '2.0.0'); // false
 */
export function packRunsOn(range: string, engine: string): boolean | undefined {
  const version = parseSemanticVersion(engine);
  if (version === undefined) return undefined;
  if (inSemanticRange(version, range) !== true) return inSemanticRange(version, range);
  return range.split('||').some((alternative) => {
    if (inSemanticRange(version, alternative) !== true) return false;
    const floor = FLOOR.exec(alternative)?.[1];
    return floor === undefined || CEILING.test(alternative) || version.numbers[0] === floor;
  });
}

/** Captures the major of a comparator that is only a lower bound. */
const FLOOR = /(?:^|\s)>=?([0-9]+)\./;
/** Matches a comparator that is also an upper bound. */
const CEILING = /(?:^|\s)(?:[<^~=]|[0-9])/;

/**
 * Returns the version of the type in `<typeId>@<semver>`, or undefined when there is none. It never states a protocol
 * version.
 *
 * @example
 * import { typeVersionOf } from '@svc/versioning/axes';
 *
 * typeVersionOf('core.http@1.4.0'); // '1.4.0'
 */
export function typeVersionOf(text: string): string | undefined {
  const at = text.lastIndexOf('@');
  const version = at < 1 ? undefined : text.slice(at + 1);
  return version !== undefined && parseSemanticVersion(version) !== undefined ? version : undefined;
}

/**
 * Returns true when a tag names a release of major 2: `v2.<minor>.<patch>`, or `v2.0.0-rc.<n>` before the first one.
 *
 * @example
 * import { isReleaseTag } from '@svc/versioning/axes';
 *
 * isReleaseTag('v2.1.0'); // true
 */
export function isReleaseTag(tag: string): boolean {
  return /^v2\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)$|^v2\.0\.0-rc\.(?:0|[1-9][0-9]*)$/.test(tag);
}

/**
 * Checks that a consumer of a major may vendor specification files from a Git reference.
 *
 * @throws {TypeError} when the reference is not a published tag, or when a consumer of major 1 names a tag of major 2
 * @example
 * import { checkVendoredReference } from '@svc/versioning/axes';
 *
 * checkVendoredReference('v2.1.0', 2);
 */
export function checkVendoredReference(reference: string, consumer: 1 | 2): void {
  const major =
    /^v(1|2)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)$/.exec(reference)?.[1] ??
    (isReleaseTag(reference) ? '2' : undefined);
  if (major === undefined) {
    throw new TypeError(
      `reference: "${reference.slice(0, 80)}" is not a published tag. Vendor files from a tag such as v2.1.0.`,
    );
  }
  if (consumer === 1 && major === '2') {
    throw new TypeError('reference: a consumer of major 1 must not vendor files of major 2. Use a tag of major 1.');
  }
}

function axis(number: number, name: string, kind: Pick<Axis, 'form' | 'accepts' | 'compare'>, rule: string): Axis {
  return { number, name, ...kind, rule, retired: false };
}

function retired(number: number, name: string, rule: string): Axis {
  return { number, name, form: 'none', rule, retired: true, accepts: () => false };
}

function isProtocolVersion(value: unknown): boolean {
  return typeof value === 'string' && parseVersion(value) !== undefined;
}

function isSemanticVersion(value: unknown): boolean {
  return typeof value === 'string' && parseSemanticVersion(value) !== undefined;
}

function isAtLeast(least: 0 | 2): (value: unknown) => boolean {
  return (value) =>
    typeof value === 'number' &&
    (least === 0 ? readEngineVersion(value) : readEventLogSchemaVersion(value)) !== undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isMapOfIntegers(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every(Number.isSafeInteger);
}

function isPin(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { min, max, ...others } = value;
  return (
    Number.isSafeInteger(min) &&
    Number.isSafeInteger(max) &&
    Number(min) <= Number(max) &&
    Object.keys(others).length === 0
  );
}

function isBundleVersion(value: unknown): boolean {
  return Object.values(BUNDLE_VERSIONS).some((version) => version === value);
}

function isTwoNumbers(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9]+\.[0-9]+$/.test(value);
}

function isDate(value: unknown): boolean {
  if (typeof value !== 'string' || !/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(value)) return false;
  const date = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
}

function isExecutionModel(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_EXECUTION_MODEL;
}

function isChannelVersion(value: unknown): boolean {
  return Number.isSafeInteger(value) || isPin(value);
}

const ANY_VERSION: SemanticVersion = { numbers: ['0', '0', '0'], prerelease: [] };

function isPackVersion(value: unknown): boolean {
  return typeof value === 'string' && inSemanticRange(ANY_VERSION, value) !== undefined;
}

function compareIntegers(a: unknown, b: unknown): number {
  return Number(a) - Number(b);
}

function compareTexts(a: unknown, b: unknown): number {
  return a === b ? 0 : String(a) < String(b) ? -1 : 1;
}

function protocolVersion(value: unknown): Version | undefined {
  return parseVersion(String(value));
}

function semanticVersion(value: unknown): SemanticVersion | undefined {
  return parseSemanticVersion(String(value));
}

/** This axis allows leading zeros; they are dropped before comparison. */
function twoNumbers(value: unknown): Version | undefined {
  const [major = '', minor = ''] = String(value)
    .split('.')
    .map((digits) => digits.replace(/^0+(?=[0-9])/, ''));
  return { major, minor };
}

function compareBy<T>(
  read: (value: unknown) => T | undefined,
  compare: (a: T, b: T) => number,
): (a: unknown, b: unknown) => number {
  return (a, b) => {
    const [left, right] = [read(a), read(b)];
    if (left === undefined || right === undefined)
      throw new TypeError('a, b: must be versions of this axis. Check each with accepts() first.');
    return compare(left, right);
  };
}
