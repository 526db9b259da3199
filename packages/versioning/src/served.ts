import { type OptionNames, requireKnown } from './known-options.ts';
import { type Phase, PREFERRED_MAJOR, phaseOf } from './phases.ts';
import { compareVersions, type Major, majorOf, parseVersion, type Version } from './version.ts';

/** The versions that a host serves, checked by {@link served}. */
export interface Served {
  /** Every version served, each `<major>.<minor>`. */
  readonly versions: readonly string[];
  /** The version that a request without `SVC-Version` gets. */
  readonly preferred: string;
  /** The major of `preferred`. */
  readonly preferredMajor: Major;
  /** The lowest client version that the host accepts; undefined when it accepts all. */
  readonly minClientVersion: string | undefined;
  /** The majors of `versions`. */
  readonly majors: ReadonlySet<Major>;
  /** The phase that follows from `majors`. */
  readonly phase: Phase;
  /** True while both majors are served. */
  readonly overlap: boolean;
  /**
   * Returns the highest `<major>.<minor>` of a major, which its responses name; `preferred` for a major that is not
   * served.
   */
  contractOf(major: Major): string;
}

/** Options of {@link served}. */
export interface ServedOptions {
  /** Every version to serve, each `<major>.<minor>`, without repeats. */
  readonly versions: readonly string[];
  /** The version that a request without `SVC-Version` gets. It must be a 1.x while `versions` lists one. */
  readonly preferred: string;
  /**
   * `<major>.<minor>`: a client that states a lower version is rejected with 426. Default: every client is accepted.
   */
  readonly minClientVersion?: string | undefined;
}

const SERVED_OPTIONS: OptionNames<ServedOptions> = { versions: true, preferred: true, minClientVersion: true };

/**
 * Checks the versions that a host is to serve.
 *
 * @throws {TypeError} with a sentence for every problem: no version, a repeated version, a version that is not of the
 * form `<major>.<minor>`, an unknown major, a preferred version that is not listed, or a preferred 2.x while a 1.x is
 * listed
 * @example
 * import { served } from '@svc/versioning';
 *
 * const protocol = served({ versions: ['1.1', '2.0'], preferred: '1.1' });
 * @see Interface: Versioning, Advertisement
 */
export function served(options: ServedOptions): Served {
  requireKnown('served', options, SERVED_OPTIONS);
  const { versions, preferred, minClientVersion } = options;
  const problems = problemsOf(versions, preferred, minClientVersion);
  if (problems.length > 0) throw new TypeError(problems.join(' '));

  const contracts = highestOfEach(versions);
  const majors: ReadonlySet<Major> = new Set(contracts.keys());
  const phase = phaseOf(majors);
  return {
    versions: Object.freeze([...versions]),
    preferred,
    preferredMajor: PREFERRED_MAJOR[phase],
    minClientVersion,
    majors,
    phase,
    overlap: phase === 'overlap',
    contractOf: (major) => contracts.get(major) ?? preferred,
  };
}

function problemsOf(versions: readonly string[], preferred: string, minClientVersion: string | undefined): string[] {
  const problems = [...versions.flatMap(versionProblems)];
  if (versions.length === 0) problems.push('versions: is empty. List at least one version, such as "1.1".');
  if (new Set(versions).size !== versions.length) problems.push('versions: repeats a version. List each version once.');
  if (!versions.includes(preferred))
    problems.push(`preferred: "${preferred}" is not in versions. Add it there, or prefer a listed version.`);
  if (minClientVersion !== undefined && parseVersion(minClientVersion) === undefined) {
    problems.push(
      `minClientVersion: "${minClientVersion}" is not of the form <major>.<minor>. Pass one such as "1.4".`,
    );
  }
  return problems.length > 0 ? problems : preferenceProblems(versions, preferred);
}

function versionProblems(text: string): string[] {
  const version = parseVersion(text);
  if (version === undefined) return [`versions: "${text}" is not of the form <major>.<minor>. Write it like "1.1".`];
  if (majorOf(version.major) !== undefined) return [];
  return [`versions: "${text}" is of major ${version.major}. Remove it; only majors 1 and 2 can be served.`];
}

function preferenceProblems(versions: readonly string[], preferred: string): string[] {
  const expected = PREFERRED_MAJOR[phaseOf(new Set(highestOfEach(versions).keys()))];
  if (majorOf(parseVersion(preferred)?.major) === expected) return [];
  return [`preferred: must be a ${expected}.x version while versions lists one. Choose it from versions.`];
}

function highestOfEach(versions: readonly string[]): Map<Major, string> {
  const highest = new Map<Major, Version>();
  for (const text of versions) {
    const version = parseVersion(text);
    const major = majorOf(version?.major);
    if (version === undefined || major === undefined) continue;
    const known = highest.get(major);
    if (known === undefined || compareVersions(known, version) < 0) highest.set(major, version);
  }
  return new Map([...highest].map(([major, version]) => [major, `${version.major}.${version.minor}`]));
}
