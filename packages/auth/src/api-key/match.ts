import type { ApiKeyRecord } from './key-store.ts';

/**
 * Returns the one candidate with this hash. Every candidate is compared completely, and a dummy when there is none: the
 * time shows neither which candidate matched nor that there was one. Two matches are a key of two holders, so neither
 * is returned.
 *
 * @see Interface: API keys (machine callers), item 5
 */
export function onlyMatch(hash: string, candidates: readonly ApiKeyRecord[]): ApiKeyRecord | undefined {
  let match: ApiKeyRecord | undefined;
  let matches = 0;
  for (const record of candidates) {
    // A store may be faulty: a value that is not a record must not hide the other candidates.
    if (!equalHashes(hash, record?.hash)) continue;
    match = record;
    matches++;
  }
  if (candidates.length === 0) equalHashes(hash, DUMMY);
  return matches === 1 ? match : undefined;
}

const DUMMY = '0'.repeat(64);

/** Compares every character, wherever the first difference is. A stored value that is not a hash equals nothing. */
function equalHashes(presented: string, stored: unknown): boolean {
  const comparable = typeof stored === 'string' && stored.length === presented.length;
  const text = comparable ? stored : DUMMY;
  let difference = comparable ? 0 : 1;
  for (let index = 0; index < presented.length; index++) {
    difference |= presented.charCodeAt(index) ^ text.charCodeAt(index);
  }
  return difference === 0;
}
