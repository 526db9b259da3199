import type { Major } from '@svc/versioning';
import { z } from 'zod';
import { invalid } from '../errors.ts';
import type { RunRequest } from '../runs/create.ts';

const DEDUP = z
  .literal('enforce')
  .optional()
  .describe('Rejects the creation while another run of the same scopeId is active.');
const ENGINE_VERSION = z.int().min(0).optional().describe('The engine version of the run. Only for test keys.');

const PREFIX: Readonly<Record<Major, string>> = { 1: 'X', 2: 'SVC' };

/** The schemas of the headers of a creation. */
export const creationHeaders: Readonly<Record<Major, Readonly<Record<string, z.ZodType>>>> = {
  1: { 'X-Dedup': DEDUP, 'X-Force-Engine-Version': ENGINE_VERSION },
  2: { 'SVC-Dedup': DEDUP, 'SVC-Force-Engine-Version': ENGINE_VERSION },
};

/**
 * Reads the headers of a creation.
 *
 * @throws {HostError} `validation_error` when a header has another value than its schema allows, or when deduplication
 *   is requested without a `scopeId`
 */
export function creationIn(
  headers: Headers,
  major: Major,
  scopeId: string | undefined,
): Pick<RunRequest, 'isOnlyOfScope' | 'engineVersion'> {
  const [dedup, version] = [`${PREFIX[major]}-Dedup`, `${PREFIX[major]}-Force-Engine-Version`];
  const isOnlyOfScope = headers.has(dedup);
  if (isOnlyOfScope && headers.get(dedup) !== 'enforce') {
    throw invalid({ field: `header.${dedup}`, problem: 'must be enforce' });
  }
  if (isOnlyOfScope && scopeId === undefined) {
    throw invalid({ field: 'scopeId', problem: `is required with the header ${dedup}` });
  }
  const forced = headers.get(version);
  if (forced !== null && !/^(?:0|[1-9][0-9]{0,8})$/.test(forced)) {
    throw invalid({ field: `header.${version}`, problem: 'must be a whole number of at least 0' });
  }
  return { isOnlyOfScope, engineVersion: forced === null ? undefined : Number(forced) };
}
