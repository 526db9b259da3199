import { bearerCredential } from '../credential.ts';
import { AuthError } from '../errors.ts';
import type { AuthOutcome, Lane } from '../lane.ts';
import type { Principal } from '../principal.ts';
import { hashApiKey, isAcceptableKey, isMistyped } from './format.ts';
import type { ApiKeyRecord, KeyStore } from './key-store.ts';

export interface ApiKeyLaneOptions {
  readonly keys: KeyStore;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The key realm that Subjects name as their issuer. */
  readonly issuer?: string;
}

/**
 * Authenticates `Authorization: Bearer <API key>`.
 *
 * @see Interface: API keys (machine callers)
 */
export function apiKeyLane({ keys, now, issuer = 'urn:svc:api-key' }: ApiKeyLaneOptions): Lane {
  return {
    name: LANE,
    authenticate(request) {
      const key = bearerCredential(request);
      if (key === undefined) return undefined;
      if (!isAcceptableKey(key) || isMistyped(key)) return unknown();
      const hash = hashApiKey(key);
      const candidates = keys.candidates(hash);
      return candidates instanceof Promise ? candidates.then((found) => judge(hash, found)) : judge(hash, candidates);
    },
  };

  function judge(hash: string, candidates: readonly ApiKeyRecord[]): AuthOutcome {
    const record = matching(hash, candidates);
    if (record === undefined) return unknown();
    if (record.revokedAt !== undefined && record.revokedAt <= now()) return refused('key_revoked', 'has been revoked');
    // Written so that a time that is not a number refuses.
    if (record.expiresAt !== undefined && !(now() < record.expiresAt)) return refused('key_expired', 'has expired');
    return { kind: 'authenticated', principal: principalOf(record, issuer) };
  }
}

const LANE = 'api-key';

/** Looks at every candidate to its end, and at a dummy when there is none. */
function matching(hash: string, candidates: readonly ApiKeyRecord[]): ApiKeyRecord | undefined {
  let match: ApiKeyRecord | undefined;
  if (candidates.length === 0) sameText(hash, DUMMY);
  for (const record of candidates) if (sameText(hash, record.hash)) match = record;
  return match;
}

const DUMMY = '0'.repeat(64);

function sameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let index = 0; index < a.length; index++) difference |= a.charCodeAt(index) ^ b.charCodeAt(index);
  return difference === 0;
}

function principalOf(record: ApiKeyRecord, issuer: string): Principal {
  const { id, principal, principalKind, tenant, workspaces, mode, scopes } = record;
  return {
    id: principal,
    kind: principalKind,
    credentialId: id,
    lane: LANE,
    tenancy: { tenant, workspaces, mode },
    scopes,
    // A key without a stated kind is a machine's.
    subject: { issuer, subjectId: principal, tenant, lane: LANE, kind: principalKind ?? 'workload' },
  };
}

function unknown(): AuthOutcome {
  return { kind: 'refused', error: new AuthError('unauthenticated', 'The credential is not valid.', undefined) };
}

function refused(code: 'key_expired' | 'key_revoked', problem: string): AuthOutcome {
  return { kind: 'refused', error: new AuthError(code, `The API key ${problem}. Use another one.`, undefined) };
}
