import type { Retirement, ServedOptions } from '@svc/versioning';
import type { MirrorOptions } from './mirror-options.ts';

/**
 * The protocol versions of a host. Each member may be left out.
 *
 * @example
 * const protocol: ProtocolOptions = { retirement: { deprecatedAt: new Date('2027-01-01') } };
 */
export interface ProtocolOptions extends Partial<ServedOptions> {
  /** The versions to serve, each `<major>.<minor>`. Default: 1.1 and 2.0. */
  readonly versions?: readonly string[];
  /**
   * The version that a request without `SVC-Version` gets. It must be a 1.x while `versions` lists one. Default: the first 1.x of
   * `versions`, or the first if there is none.
   */
  readonly preferred?: string;
  /**
   * The dates of the deprecation and the sunset of major 1, stamped on each of its responses. Default: not retiring.
   */
  readonly retirement?: Retirement;
  /**
   * Answers a share of the reads again in the other major, and compares both answers: `/host/<org>/versions/mirror` reports
   * the differences. Needs both majors. Default: no read is compared. `{}` takes every default.
   */
  readonly mirrorReads?: Partial<MirrorOptions>;
}

/** Adds the defaults of the served versions. */
export function servedOptions({ versions = VERSIONS, preferred, minClientVersion }: ProtocolOptions): ServedOptions {
  const [first = ''] = versions;
  return { versions, preferred: preferred ?? versions.find(isOfMajor1) ?? first, minClientVersion };
}

const VERSIONS = ['1.1', '2.0'];

function isOfMajor1(version: string): boolean {
  return version.startsWith('1.');
}
