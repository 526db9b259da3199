import { sha256 } from '#sha256';
import type { Credential } from '../credential.ts';
import { AuthError } from '../errors.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { AuthOutcome, Lane } from '../lane.ts';
import type { Principal } from '../principal.ts';
import { acceptsForeignKey } from './format.ts';
import { type ApiKeyRecord, checkedApiKeyRecord, type KeyStore } from './key-store.ts';
import { onlyMatch } from './match.ts';

/** Options of `apiKeyLane`. */
export interface ApiKeyLaneOptions {
  /** Stores the keys. */
  readonly keys: KeyStore;
  /** Milliseconds since the epoch, e.g. `Date.now`. */
  readonly now: () => number;
  /** The issuer in Subject records: a URI or URN. Default `urn:svc:api-key`. */
  readonly issuer?: string;
  /**
   * Called with each accepted key and the time in milliseconds since the epoch. Pass `trackLastUsed(…).note` to store
   * it. It must not throw. Default: not called.
   */
  readonly onUsed?: (keyId: string, time: number) => void;
}

const API_KEY_LANE_OPTIONS: OptionNames<ApiKeyLaneOptions> = { keys: true, now: true, issuer: true, onUsed: true };

/**
 * Makes the lane that authenticates `Authorization: Bearer <API key>`. It judges every bearer credential, so put token
 * lanes before it.
 *
 * @throws {TypeError} when `keys`, `now` or `issuer` is invalid
 * @example
 * const auth = authenticator({ lanes: [apiKeyLane({ keys: memoryKeyStore(records), now: Date.now })] });
 * @see Interface: API keys (machine callers)
 */
export function apiKeyLane(options: ApiKeyLaneOptions): Lane {
  requireKnown('apiKeyLane', options, API_KEY_LANE_OPTIONS);
  const { keys, now, issuer = 'urn:svc:api-key', onUsed } = options;
  if (typeof keys?.candidates !== 'function')
    throw new TypeError('apiKeyLane: keys must be a KeyStore, e.g. memoryKeyStore(records).');
  if (typeof now !== 'function') throw new TypeError('apiKeyLane: now must be a function, e.g. Date.now.');
  if (!/^[^\s\p{C}]{1,1024}$/u.test(issuer))
    throw new TypeError('apiKeyLane: issuer must be a URI or URN of at most 1024 characters, without white space.');

  return {
    name: LANE,
    authenticate(_request, credential) {
      if (credential?.scheme !== 'bearer') return undefined;
      return judge(credential);
    },
  };

  function judge({ token }: Credential): AuthOutcome | Promise<AuthOutcome> {
    if (!acceptsForeignKey(token)) return unknown();
    const hash = sha256(token);
    const found = keys.candidates({ hash });
    return isList(found) ? decide(hash, found) : Promise.resolve(found).then((records) => decide(hash, records));
  }

  function decide(hash: string, candidates: readonly ApiKeyRecord[]): AuthOutcome {
    const match = onlyMatch(hash, candidates);
    if (match === undefined) return unknown();
    const record = checkedApiKeyRecord(match);
    const { revokedAt, expiresAt } = record;
    const time = now();
    // Negated, so that a clock that returns NaN refuses.
    if (revokedAt !== undefined && !(time < revokedAt)) return refused('key_revoked', 'has been revoked');
    if (expiresAt !== undefined && !(time < expiresAt)) return refused('key_expired', 'has expired');
    onUsed?.(record.id, time);
    return { kind: 'authenticated', principal: principalOf(record, issuer) };
  }
}

const LANE = 'api-key';

function isList(found: ReturnType<KeyStore['candidates']>): found is readonly ApiKeyRecord[] {
  return Array.isArray(found);
}

function principalOf(record: ApiKeyRecord, issuer: string): Principal {
  const { id, principal, principalKind, tenant, workspaces, mode, scopes } = record;
  return {
    id: principal,
    kind: principalKind,
    credentialId: id,
    lane: LANE,
    binding: 'bearer',
    tenancy: { tenant, workspaces, mode },
    scopes,
    expiresAt: record.expiresAt,
    // A principal without a stated kind is a workload.
    subject: { issuer, subjectId: principal, tenant, lane: LANE, kind: principalKind ?? 'workload' },
  };
}

/** A malformed credential and an unknown key get the same answer: the difference would tell which keys exist. */
function unknown(): AuthOutcome {
  const message = 'The credential is unknown to this host. Check that it is complete and issued for this host.';
  return { kind: 'refused', error: new AuthError('unauthenticated', message, undefined) };
}

function refused(code: 'key_expired' | 'key_revoked', what: string): AuthOutcome {
  const message = `The API key ${what}. Ask the operator of the host for another one.`;
  return { kind: 'refused', error: new AuthError(code, message, undefined) };
}
