import { sha256 } from '#sha256';
import { clockOf } from '../clock-of.ts';
import type { Credential } from '../credential.ts';
import { withinTime } from '../deadline.ts';
import { AuthError } from '../errors.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { AuthOutcome, Lane } from '../lane.ts';
import { outage } from '../outage.ts';
import type { Principal } from '../principal.ts';
import type { RequestHead } from '../request-head.ts';
import { acceptsForeignKey } from './format.ts';
import { type ApiKeyRecord, checkedApiKeyRecord, type KeyStore } from './key-store.ts';
import { onlyMatch } from './match.ts';

/** Options of `apiKeyLane`. */
export interface ApiKeyLaneOptions {
  /** Stores the keys. */
  readonly keys: KeyStore;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** The issuer in Subject records: a URI or URN. Default `urn:svc:api-key`. */
  readonly issuer?: string;
  /**
   * Called with each accepted key and the time in milliseconds since the epoch. Pass `trackLastUsed(…).note` to store
   * it. It must not throw. Default: not called.
   */
  readonly onUsed?: (keyId: string, time: number) => void;
  /**
   * Returns whether the client of a request is in one of the blocks. Called for keys with `allowedAddresses`. Compare
   * the address that `clientAddress` of `@svc/auth/rate-limit` returns. Default: such keys are refused.
   */
  readonly isWithin?: (request: RequestHead, blocks: readonly string[]) => boolean;
}

const API_KEY_LANE_OPTIONS: OptionNames<ApiKeyLaneOptions> = {
  keys: true,
  now: true,
  issuer: true,
  onUsed: true,
  isWithin: true,
};

/**
 * Makes the lane that authenticates `Authorization: Bearer <API key>`. It judges every bearer credential, so put token
 * lanes before it.
 *
 * A store that fails, or takes longer than 5 s, is an outage: the refusal is `service_unavailable`. A malformed record
 * refuses its own key alone; `cause` of the refusal names the record and the field.
 *
 * @throws {TypeError} when `keys`, `now` or `issuer` is invalid
 * @example
 * const auth = authenticator({ lanes: [apiKeyLane({ keys: memoryKeyStore(records) })] });
 * @see Interface: API keys (machine callers)
 */
export function apiKeyLane(options: ApiKeyLaneOptions): Lane {
  requireKnown('apiKeyLane', options, API_KEY_LANE_OPTIONS);
  if (typeof options.keys?.candidates !== 'function')
    throw new TypeError('apiKeyLane: keys must be a KeyStore, e.g. memoryKeyStore(records).');
  return laneOf('apiKeyLane', options);
}

/** Makes the lane. Errors of its options begin with the owner. */
export function laneOf(owner: string, options: ApiKeyLaneOptions): Lane {
  const { keys, issuer = 'urn:svc:api-key', onUsed, isWithin = () => false } = options;
  const now = clockOf(owner, options.now);
  if (!/^[^\s\p{C}]{1,1024}$/u.test(issuer))
    throw new TypeError(`${owner}: issuer must be a URI or URN of at most 1024 characters, without white space.`);

  return {
    name: LANE,
    advertises: [{ kind: 'api-key', issuer }],
    authenticate(request, credential) {
      if (credential?.scheme !== 'bearer') return undefined;
      return judge(credential, request);
    },
    grantedScopes: () => keys.grantedScopes?.() ?? [],
  };

  function judge({ token }: Credential, request: RequestHead): AuthOutcome | Promise<AuthOutcome> {
    if (!acceptsForeignKey(token)) return unknown();
    const hash = sha256(token);
    const isForTests = token.startsWith(TEST_PREFIX);
    try {
      const found: unknown = keys.candidates({ hash });
      return isList(found)
        ? decide({ hash, isForTests, request }, found)
        : decideLater({ hash, isForTests, request }, found);
    } catch (cause) {
      return unavailable(cause);
    }
  }

  async function decideLater(presented: Presented, pending: unknown): Promise<AuthOutcome> {
    try {
      const found = await withinTime('The key store', STORE_TIMEOUT_MS, pending);
      if (!isList(found)) throw new TypeError('keys: candidates must return a list of records, or a promise of one.');
      return decide(presented, found);
    } catch (cause) {
      return unavailable(cause);
    }
  }

  function decide({ hash, isForTests, request }: Presented, candidates: readonly ApiKeyRecord[]): AuthOutcome {
    const match = onlyMatch(hash, candidates);
    if (match === undefined) return candidates.every(isObject) ? unknown() : unusable(new TypeError(NO_RECORD));
    let record: ApiKeyRecord;
    try {
      record = checkedApiKeyRecord(match);
    } catch (cause) {
      return unusable(cause);
    }
    const { revokedAt, expiresAt } = record;
    if (isForTests && record.mode !== 'test') return unknown();
    const time = now();
    // Negated, so that a clock that returns NaN refuses.
    if (revokedAt !== undefined && !(time < revokedAt)) return refused('key_revoked', 'has been revoked');
    if (expiresAt !== undefined && !(time < expiresAt)) return refused('key_expired', 'has expired');
    // The answer to an unknown key: a thief must not learn that the key is valid elsewhere.
    if (record.allowedAddresses !== undefined && !isWithin(request, record.allowedAddresses)) return unknown(ELSEWHERE);
    onUsed?.(record.id, time);
    return { kind: 'authenticated', principal: principalOf(record, issuer) };
  }
}

const LANE = 'api-key';

/** A key as a request presents it. */
interface Presented {
  readonly hash: string;
  readonly isForTests: boolean;
  readonly request: RequestHead;
}

const ELSEWHERE = 'The key is valid, and the address of the client is not in its allowedAddresses.';

const STORE_TIMEOUT_MS = 5000;

/** A key with this prefix never reaches live data, even if its record has the mode `live`. */
export const TEST_PREFIX = 'svc_test_';

function isList(found: unknown): found is readonly ApiKeyRecord[] {
  return Array.isArray(found);
}

function principalOf(record: ApiKeyRecord, issuer: string): Principal {
  const { id, principal, principalKind, tenant, workspaces, mode, scopes, quota } = record;
  return {
    id: principal,
    kind: principalKind,
    credentialId: id,
    lane: LANE,
    binding: 'bearer',
    tenancy: { tenant, workspaces, mode },
    scopes,
    expiresAt: earliest(record.expiresAt, record.revokedAt),
    ...(record.rateLimit !== undefined && { rateLimit: record.rateLimit }),
    ...(quota !== undefined && {
      quota: { limit: quota.limit, period: quota.period, account: quota.account ?? id },
    }),
    // A principal without a stated kind is a workload.
    subject: { issuer, subjectId: principal, tenant, lane: LANE, kind: principalKind ?? 'workload' },
  };
}

/** A key in its grace period ends when it is revoked, and its streams with it. */
function earliest(expiresAt: number | undefined, revokedAt: number | undefined): number | undefined {
  if (expiresAt === undefined || revokedAt === undefined) return expiresAt ?? revokedAt;
  return Math.min(expiresAt, revokedAt);
}

/** A malformed credential and an unknown key get the same answer: the difference would tell which keys exist. */
function unknown(cause?: string): AuthOutcome {
  const message = 'The credential is unknown to this host. Check that it is complete and issued for this host.';
  return { kind: 'refused', error: new AuthError('unauthenticated', message, undefined, { cause }) };
}

const NO_RECORD = 'keys: candidates returned a value that is not a record. Return records alone.';

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function unavailable(cause: unknown): AuthOutcome {
  const message = 'The API key cannot be verified at the moment. Try again in a few seconds.';
  return { kind: 'refused', error: outage(message, cause, 'key-store') };
}

/** The holder of the key did nothing wrong, so the refusal counts against no limit. */
function unusable(cause: unknown): AuthOutcome {
  const message = 'The API key cannot be used. Ask the operator of the host to correct its record.';
  const options = { cause, rejected: false, fault: 'host', reason: 'record' } as const;
  return { kind: 'refused', error: new AuthError('unauthenticated', message, undefined, options) };
}

function refused(code: 'key_expired' | 'key_revoked', what: string): AuthOutcome {
  const message = `The API key ${what}. Ask the operator of the host for another one.`;
  return { kind: 'refused', error: new AuthError(code, message, undefined) };
}
