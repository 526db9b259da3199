import type { Major, Served } from '@svc/versioning';
import { z } from 'zod';

/** The majors that a host serves, and the one for callers that name none. */
export type ServedMajors = Pick<Served, 'majors' | 'preferredMajor'>;

/**
 * The major whose form a mount answers in, where the answer has one for each: 1 for the twin under `/v1`; otherwise the
 * one that `SVC-Version` names, if it is served; by default the preferred one.
 */
export function addressedMajor(url: string, headers: Headers, { majors, preferredMajor }: ServedMajors): Major {
  if (new URL(url).pathname.startsWith('/v1/')) return 1;
  const [, named] = /^([12])(?:\.[0-9]+)?$/.exec(headers.get('svc-version') ?? '') ?? [];
  if (named === '1' && majors.has(1)) return 1;
  if (named === '2' && majors.has(2)) return 2;
  return preferredMajor;
}

/** The description of the header that `addressedMajor` reads. */
export const VERSION_HEADER: Readonly<Record<'SVC-Version', z.ZodType>> = {
  'SVC-Version': z.string().optional().describe('The major, such as `2` or `2.0`. Default: the preferred one.'),
};
