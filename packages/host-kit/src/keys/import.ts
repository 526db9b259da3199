import { isDeepStrictEqual } from 'node:util';
import type { ApiKeyRecord } from '@svc/auth/api-key';
import { factAboutKey } from '../audit/fact.ts';
import type { StoredApiKey } from '../ports/api-keys.ts';
import type { Transaction } from '../ports/transaction.ts';
import { UnreadableRecord } from '../ports/unreadable-record.ts';
import type { KeyParts } from './key-parts.ts';

/** A key of the configuration of a host. */
export interface ConfiguredKey extends ApiKeyRecord {
  /** A name for people. Default: its id. */
  readonly name?: string;
}

/**
 * Stores the keys of a configuration, and revokes those that an earlier configuration had and this one has not. A key that
 * an operation revoked stays revoked. Does nothing when nothing has changed.
 *
 * @returns whether a stored key was changed
 * @throws {TypeError} when a key has the id or the hash of one that an operation made
 */
export async function importKeys(
  { store, clock, recordAudit, log }: KeyParts,
  configured: readonly ConfiguredKey[],
): Promise<boolean> {
  const now = clock.now();
  const stored = new Map((await store.apiKeys.configured()).map((key) => [key.id, key]));
  const plan = planOf(configured, stored, now);
  if (plan.added.length + plan.removed.length + plan.replaced.length + plan.revoked.length === 0) return false;
  await store.transaction(async (transaction) => {
    for (const { id } of plan.removed) await store.apiKeys.remove(id, transaction);
    for (const key of [...plan.revoked, ...plan.replaced]) await store.apiKeys.replace(key, transaction);
    const added: StoredApiKey[] = [];
    for (const key of plan.added) if (await addOrReplace(key, transaction)) added.push(key);
    for (const key of added) await recordAudit(factAboutKey(key, { action: 'key.created', at: now }), transaction);
    for (const key of plan.revoked)
      await recordAudit(factAboutKey(key, { action: 'key.revoked', at: now }), transaction);
  });
  const counts = { added: plan.added.length, changed: plan.replaced.length, revoked: plan.revoked.length };
  log({ level: 'info', event: 'keys.imported', ...counts });
  return plan.removed.length + plan.replaced.length + plan.revoked.length > 0;

  /** Returns false when another host that starts at the same time has added the key. */
  async function addOrReplace(key: StoredApiKey, transaction: Transaction): Promise<boolean> {
    if (await store.apiKeys.add(key, transaction)) return true;
    const found = await readable(store.apiKeys.readForChange(key.id, transaction));
    // Its record may say that it was revoked, so the configuration does not replace it. It is accepted by nobody.
    if (found === 'unreadable') return false;
    if (found?.source !== 'configuration' || found.hash !== key.hash) {
      throw new TypeError(
        `API key ${key.id}: its id or its hash belongs to a key that was made by an operation. Remove it from the configuration, or give it another id and key.`,
      );
    }
    await store.apiKeys.replace(mergedInto(found, key), transaction);
    return false;
  }
}

async function readable<T>(read: Promise<T>): Promise<T | 'unreadable'> {
  return read.catch((error: unknown) => {
    if (error instanceof UnreadableRecord) return 'unreadable';
    throw error;
  });
}

interface Plan {
  readonly added: StoredApiKey[];
  /** Makes room for another key of the same hash, or for another key of the same id. */
  readonly removed: StoredApiKey[];
  readonly replaced: StoredApiKey[];
  readonly revoked: StoredApiKey[];
}

/** In the order of ids, so that hosts that start at the same time do not wait for each other in a circle. */
function planOf(configured: readonly ConfiguredKey[], stored: ReadonlyMap<string, StoredApiKey>, now: number): Plan {
  const plan: Plan = { added: [], removed: [], replaced: [], revoked: [] };
  const wanted = [...configured].sort((a, b) => (a.id < b.id ? -1 : 1)).map((key) => storedOf(key, now));
  const ids = new Set(wanted.map(({ id }) => id));
  const hashes = new Set(wanted.map(({ hash }) => hash));
  for (const key of stored.values()) {
    if (ids.has(key.id)) continue;
    if (hashes.has(key.hash)) plan.removed.push(key);
    else if (key.endedBy === undefined) {
      plan.revoked.push({ ...key, ended: 'now', endedBy: 'configuration', revokedAt: now });
    }
  }
  for (const key of wanted) {
    const before = stored.get(key.id);
    if (before === undefined) plan.added.push(key);
    else if (before.hash !== key.hash) {
      plan.removed.push(before);
      plan.added.push(key);
    } else {
      const { lastUsedAt: _, ...current } = before;
      const merged = mergedInto(before, key);
      if (!isDeepStrictEqual(withoutAbsent(current), withoutAbsent(merged))) plan.replaced.push(merged);
    }
  }
  return plan;
}

function storedOf({ name, ...record }: ConfiguredKey, now: number): StoredApiKey {
  return {
    ...record,
    name: name ?? record.id,
    prefix: '',
    metadata: {},
    createdAt: now,
    source: 'configuration',
  };
}

/** The configuration decides all but the history, and the end that an operation has set. */
function mergedInto(before: StoredApiKey, key: StoredApiKey): StoredApiKey {
  const { createdAt, rotatedTo, ended, endedBy, revokedAt = Number.POSITIVE_INFINITY } = before;
  const history = { ...key, createdAt, ...(rotatedTo !== undefined && { rotatedTo }) };
  if (endedBy !== 'operation') return history;
  return { ...history, ended, endedBy, revokedAt: Math.min(revokedAt, key.revokedAt ?? Number.POSITIVE_INFINITY) };
}

/** As a store gives it back. */
function withoutAbsent(key: object): object {
  return JSON.parse(
    JSON.stringify(key, (_, value) => (value instanceof Object && !Array.isArray(value) ? sorted(value) : value)),
  );
}

function sorted(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
