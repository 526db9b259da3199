import { compareVersions, MAJORS, type Major, parseVersion, type Version } from './version.ts';

/** What a host serves, checked once. */
export interface Served {
  readonly versions: readonly string[];
  readonly preferred: string;
  readonly preferredMajor: Major;
  readonly minClientVersion: string | undefined;
  readonly majors: ReadonlySet<Major>;
  /** Both majors are served side by side. */
  readonly overlap: boolean;
  /** The `<major>.<minor>` that answers for a major: the highest served, or the preferred one where it is of that major. */
  contractOf(major: Major): string;
}

export interface ServedOptions {
  /** Every `<major>.<minor>` served. */
  readonly versions: readonly string[];
  /** The one that a request without a version gets; a 1.x as long as one is served. */
  readonly preferred: string;
  readonly minClientVersion?: string | undefined;
}

/**
 * Checks what a host means to serve.
 *
 * @throws {TypeError} naming what is wrong: grammar, an unknown major, a preference that is not served, or a 2.x preferred
 * while a 1.x is served
 * @see Interface: Versioning, Advertisement
 */
export function served({ versions, preferred, minClientVersion }: ServedOptions): Served {
  if (versions.length === 0) throw new TypeError('versions must name at least one protocol version.');
  if (new Set(versions).size !== versions.length) throw new TypeError('versions must not repeat a version.');
  const highest = new Map<Major, Version>();
  for (const text of versions) {
    const version = required('versions', text);
    const major = knownMajor(version);
    const known = highest.get(major);
    if (known === undefined || compareVersions(known, version) < 0) highest.set(major, version);
  }
  if (!versions.includes(preferred)) throw new TypeError(`preferred is ${preferred}, which versions does not list.`);
  const preferredMajor = knownMajor(required('preferred', preferred));
  if (highest.has(1) && preferredMajor !== 1) {
    throw new TypeError('preferred must name a 1.x version as long as versions lists one.');
  }
  if (minClientVersion !== undefined) required('minClientVersion', minClientVersion);

  return {
    versions,
    preferred,
    preferredMajor,
    minClientVersion,
    majors: new Set(highest.keys()),
    overlap: highest.size > 1,
    contractOf(major) {
      if (major === preferredMajor) return preferred;
      const version = highest.get(major);
      return version === undefined ? preferred : `${version.major}.${version.minor}`;
    },
  };
}

function required(name: string, text: string): Version {
  const version = parseVersion(text);
  if (version === undefined) throw new TypeError(`${name}: "${text}" is not of the form <major>.<minor>.`);
  return version;
}

function knownMajor({ major }: Version): Major {
  const known = MAJORS.find((candidate) => candidate === major);
  if (known === undefined) throw new TypeError(`versions: major ${major} is not one of ${MAJORS.join(', ')}.`);
  return known;
}
