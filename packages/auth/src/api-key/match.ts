import type { ApiKeyRecord } from './key-store.ts';

/**
 * The candidate whose hash it is. All of them are compared to their end, and a dummy when there is none, so that the time tells
 * neither which one it was nor that there was one. Two that match are a key of two holders, which is nobody's.
 *
 * @see Interface: API keys (machine callers), item 5
 */
export function onlyMatch(hash: string, candidates: readonly ApiKeyRecord[]): ApiKeyRecord | undefined {
  let match: ApiKeyRecord | undefined;
  let matches = 0;
  for (const record of candidates) {
    if (!equalHashes(hash, record.hash)) continue;
    match = record;
    matches++;
  }
  if (candidates.length === 0) equalHashes(hash, DUMMY);
  return matches === 1 ? match : undefined;
}

const DUMMY = '0'.repeat(64);

/** Looks at every character, wherever the first difference is; what is stored and is no hash equals nothing. */
function equalHashes(presented: string, stored: unknown): boolean {
  const comparable = typeof stored === 'string' && stored.length === presented.length;
  const text = comparable ? stored : DUMMY;
  let difference = comparable ? 0 : 1;
  for (let index = 0; index < presented.length; index++) {
    difference |= presented.charCodeAt(index) ^ text.charCodeAt(index);
  }
  return difference === 0;
}
