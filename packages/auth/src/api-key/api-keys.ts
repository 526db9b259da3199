import { sha256 } from '#sha256';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { Lane } from '../lane.ts';
import { isOpaqueId } from '../opaque-id.ts';
import { type ApiKeyEntry, withDefaults } from './entry.ts';
import { acceptsForeignKey, KEY_RULE, LONGEST_KEY, SHORTEST_KEY } from './format.ts';
import { type ApiKeyRecord, checkedAs } from './key-store.ts';
import { type ApiKeyLaneOptions, laneOf, TEST_PREFIX } from './lane.ts';
import { memoryKeyStore } from './memory.ts';

/** The grants of a key of `apiKeys`. */
export interface FixedApiKey extends Omit<ApiKeyEntry, 'hash' | 'mode'> {
  /** The data that the key reaches. Default: `test` for a key that begins with `svc_test_`, else `live`. */
  readonly mode?: 'live' | 'test' | undefined;
}

const FIXED_API_KEY: OptionNames<FixedApiKey> = {
  tenant: true,
  scopes: true,
  id: true,
  principal: true,
  principalKind: true,
  workspaces: true,
  mode: true,
  expiresAt: true,
  revokedAt: true,
  rateLimit: true,
  quota: true,
  allowedAddresses: true,
};

/** Options of `apiKeys`. */
export type ApiKeysOptions = Omit<ApiKeyLaneOptions, 'keys'>;

const API_KEYS_OPTIONS: OptionNames<ApiKeysOptions> = { now: true, issuer: true, onUsed: true, isWithin: true };

/**
 * Makes the lane of a few fixed keys, which authenticates `Authorization: Bearer <API key>`. The keys are hashed at once,
 * and none is kept. It judges every bearer credential, so put token lanes before it.
 *
 * @param keys the grants of each key, by the key itself: 32 to 512 characters that fit in a bearer header
 * @throws {TypeError} for a key that is undefined, empty, too short or of a wrong form; for a key with the prefix
 * `svc_test_` and the mode `live`; for an invalid or unknown field; when there is no key. The message names a key by its
 * position and its tenant, and never has the key.
 * @example
 * const key = String(process.env.API_KEY);
 * const auth = authenticator({ lanes: [apiKeys({ [key]: { tenant: 'acme', scopes: ['runs:*'] } })] });
 * @see Interface: API keys (machine callers)
 */
export function apiKeys(keys: Readonly<Record<string, FixedApiKey>>, options: ApiKeysOptions = {}): Lane {
  if (!isPlainObject(keys))
    throw new TypeError(`apiKeys: keys must be a plain object, from each key to its grants. ${EXAMPLE}`);
  requireNoLongName('apiKeys', options);
  requireKnown('apiKeys', options, API_KEYS_OPTIONS);
  const entries = Object.entries(keys);
  if (entries.length === 0) throw new TypeError(`apiKeys: needs at least one key. ${EXAMPLE}`);
  const secrets: ReadonlySet<unknown> = new Set(Object.keys(keys));
  const ids = new Set<string>();
  const records = entries.map(([key, grants], index) => {
    const label = labelOf(index, grants, secrets);
    requireKey(label, key);
    requireGrants(label, grants, secrets);
    const record = recordOf(label, key, grants);
    if (ids.has(record.id)) throw new TypeError(`${label}: id must be unique. Another key has it.`);
    ids.add(record.id);
    return record;
  });
  return laneOf('apiKeys', { ...options, keys: memoryKeyStore(records) });
}

const EXAMPLE = "Pass { [key]: { tenant: 'acme', scopes: ['runs:*'] } }.";

/** A record from a file or of another realm is plain, too. What an object inherits would be no key, without a sign. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof prototype !== 'object' || prototype === null) return prototype === null;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');
}

/** An unknown name stands in the message of its error, and so must not be a key in the wrong place. */
function requireNoLongName(owner: string, options: object): void {
  if (typeof options !== 'object' || options === null) return;
  if (Object.keys(options).every((name) => name.length < SHORTEST_KEY)) return;
  throw new TypeError(`${owner}: has an unknown name that may be a key. Pass all keys in the first argument.`);
}

/** Names a key by its position and its tenant, unless the tenant is no id, or a key in the wrong place. */
function labelOf(index: number, grants: unknown, secrets: ReadonlySet<unknown>): string {
  const { tenant }: { readonly tenant?: unknown } = Object(grants);
  const isShown = isOpaqueId(tenant) && !secrets.has(tenant);
  return `apiKeys: key ${index + 1}${isShown ? ` (tenant ${tenant})` : ''}`;
}

function requireKey(label: string, key: string): void {
  if (key === 'undefined' || key === '')
    throw new TypeError(`${label} is ${key === '' ? 'empty' : key}. Set its environment variable.`);
  if (acceptsForeignKey(key)) return;
  const isFitting = key.length >= SHORTEST_KEY && key.length <= LONGEST_KEY;
  const problem = isFitting
    ? `has ${key.length} characters and a wrong form or checksum`
    : `has ${key.length} characters`;
  throw new TypeError(`${label} ${problem}. Pass a key of ${KEY_RULE}, without a typing error.`);
}

function requireGrants(label: string, grants: unknown, secrets: ReadonlySet<unknown>): asserts grants is FixedApiKey {
  if (!isPlainObject(grants)) throw new TypeError(`${label}: its grants must be a plain object. ${EXAMPLE}`);
  requireNoLongName(label, grants);
  requireKnown(label, grants, FIXED_API_KEY);
  for (const [field, value] of Object.entries(grants)) {
    // Ids are shown in logs.
    if ([value].flat().some((each) => secrets.has(each)))
      throw new TypeError(`${label}: ${field} must not hold a key. Pass another value.`);
  }
}

function recordOf(label: string, key: string, grants: FixedApiKey): ApiKeyRecord {
  const isForTests = key.startsWith(TEST_PREFIX);
  const { mode = isForTests ? 'test' : 'live' } = grants;
  if (isForTests && mode === 'live')
    throw new TypeError(
      `${label} begins with ${TEST_PREFIX} and has the mode live. Leave mode out, or pass a live key.`,
    );
  return checkedAs(label, withDefaults({ ...grants, mode, hash: sha256(key) }));
}
