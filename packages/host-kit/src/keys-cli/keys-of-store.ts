import { existsSync } from 'node:fs';
import type { Principal } from '@svc/auth';
import { checkedApiKeyRecord } from '@svc/auth/api-key';
import { factAboutKey } from '../audit/fact.ts';
import { HostError } from '../errors.ts';
import { fieldProblems } from '../field-problems.ts';
import type { KeyServices } from '../keys/key-services.ts';
import { createKey, revokeKey, rotateKey } from '../keys/manage.ts';
import { quotaUses } from '../keys/quota-uses.ts';
import type { StoredApiKey } from '../ports/api-keys.ts';
import { systemClock } from '../ports/clock.ts';
import { systemRandom } from '../ports/random.ts';
import type { Store } from '../ports/store.ts';
import { type NewKeyBody, newKeyBody, viewOfKey } from '../wire/api-key.ts';
import { type KeyTarget, Refused, Unreachable, UsageError } from './terminal.ts';

/** The part of a store that the command works on. */
export interface Place {
  readonly tenant: string;
  readonly mode: 'live' | 'test';
}

interface StoreKeysOptions extends Place {
  /** Makes a database file that is missing. */
  readonly isMade: boolean;
  /** Called with a sentence about each key that cannot be read. */
  readonly warn: (message: string) => void;
}

/** The keys of a store. Its operator may give every authority. */
export async function keysOfStore(location: string, { isMade, warn, ...place }: StoreKeysOptions): Promise<KeyTarget> {
  const store = await openStore(location, isMade);
  store.unreadable?.follow(({ message }) => warn(message));
  const services: KeyServices = {
    store,
    clock: systemClock,
    random: systemRandom,
    keys: { settle: async () => store.apiKeys.feed?.confirmed(systemClock) },
    recordAudit: (fact, transaction) => store.audit.append([fact], transaction),
    // A store does not know the workspaces of its tenants.
    hasWorkspace: () => true,
  };
  const now = () => systemClock.now();
  const tenancy = { ...place, workspaces: 'all' as const };
  const saveNothing = async () => {};

  return {
    async create(fields) {
      const body = judged(fields);
      if (body.principal === undefined) throw new UsageError('--principal: is missing. Name the principal of the key.');
      const { workspaces = ['*'], expiresAt, ...rest } = body;
      const asked = {
        ...rest,
        workspaces: workspaces.includes('*') ? ('all' as const) : workspaces,
        expiresAt: expiresAt === undefined ? undefined : Date.parse(expiresAt),
      };
      const made = await refusing(createKey(services, operator(place, body.scopes), asked, saveNothing));
      return { apiKey: viewOfKey(made.record, now()), key: made.key };
    },
    async *list({ state, principal }) {
      const known = STATES.find((each) => each === state);
      for (let after: string | undefined = ''; after !== undefined; ) {
        const page: readonly StoredApiKey[] = await store.apiKeys.list(tenancy, {
          ...{ after, limit: PAGE, state: known, principal, now: now() },
        });
        const useOf = await quotaUses(store, page, await timeOf(store));
        for (const key of page) yield viewOfKey(key, now(), useOf(key));
        after = page.length < PAGE ? undefined : page.at(-1)?.id;
      }
    },
    async rotate(id, { graceSeconds, expiresAt }) {
      const found = await store.apiKeys.find(tenancy, id);
      const caller = operator(place, found?.scopes ?? []);
      const end = expiresAt === undefined ? undefined : Date.parse(expiresAt);
      const asked = { graceSeconds, expiresAt: end, save: saveNothing };
      const made = await refusing(rotateKey(services, caller, id, asked));
      return { apiKey: viewOfKey(made.record, now()), retired: viewOfKey(made.retired, now()), key: made.key };
    },
    revoke: async (id) => viewOfKey(await refusing(revokeKey(services, operator(place, []), id)), now()),
    import: (records) => importRecords(store, place, records),
    close: () => store.close(),
  };
}

/** Quotas renew by the time of the store. */
async function timeOf(store: Store): Promise<number> {
  return (await store.time?.()) ?? systemClock.now();
}

const STATES = ['active', 'expired', 'revoked'] as const;
const PAGE = 200;

async function openStore(location: string, isMade: boolean): Promise<Store> {
  if (/^postgres(?:ql)?:\/\//.test(location)) {
    const { postgresStore } = await import('../stores/postgres/index.ts');
    return postgresStore({ url: location, connections: 2 }).catch(() => {
      // The driver's message may have the URL, and a password in it.
      throw new Unreachable('--store: the database cannot be opened. Check the URL, and that the server runs.');
    });
  }
  const path = location.startsWith('sqlite:') ? location.slice('sqlite:'.length) : undefined;
  if (path === undefined) throw new UsageError('--store: must be sqlite:PATH or postgres://….');
  if (!isMade && !existsSync(path)) throw new Unreachable(`--store: ${path} does not exist. Check the path.`);
  const { sqliteStore } = await import('../stores/sqlite/index.ts');
  try {
    return sqliteStore(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'cannot be opened.';
    throw new Unreachable(`--store: ${reason} While its host runs, pass --url.`);
  }
}

/** The operator of a store holds each scope that it gives. */
function operator({ tenant, mode }: Place, scopes: readonly string[]): Principal {
  return {
    id: 'operator',
    kind: undefined,
    credentialId: 'svc-keys',
    lane: 'command-line',
    binding: 'bearer',
    tenancy: { tenant, mode, workspaces: 'all' },
    scopes: [...scopes, 'keys:assign'],
    subject: { issuer: 'urn:svc:command-line', subjectId: 'operator', tenant, lane: 'command-line', kind: 'workload' },
  };
}

function judged(fields: object): NewKeyBody {
  const read = newKeyBody.safeParse(fields);
  if (read.success) return read.data;
  const [first = { field: 'key', problem: 'is malformed' }] = fieldProblems(newKeyBody, fields, read.error);
  throw new UsageError(`${first.field}: ${first.problem}.`);
}

async function refusing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof HostError) throw new Refused(error.message);
    throw error;
  }
}

/** Adds every record, or none. Records that are there already are left alone. */
async function importRecords(store: Store, place: Place, records: readonly unknown[]): Promise<number> {
  const now = systemClock.now();
  const keys = records.map((record, index) => keyOf(record, index, place, now));
  return store.transaction(async (transaction) => {
    const added: StoredApiKey[] = [];
    for (const key of keys) {
      if (await store.apiKeys.add(key, transaction)) added.push(key);
      else if ((await store.apiKeys.readForChange(key.id, transaction))?.hash !== key.hash) {
        throw new Refused(`key ${key.id}: its id or its hash belongs to another key. Nothing was imported.`);
      }
    }
    const facts = added.map((key) => factAboutKey(key, { action: 'key.created', at: now }));
    if (facts.length > 0) await store.audit.append(facts, transaction);
    return added.length;
  });
}

function keyOf(given: unknown, index: number, { tenant, mode }: Place, now: number): StoredApiKey {
  const { name, prefix, workspaces = ['*'], expiresAt, key, ...record } = Object(given);
  if (key !== undefined) throw new UsageError(`[${index}].key: must not be there. Give its hash instead.`);
  if (record.quota?.account !== undefined) {
    throw new UsageError(`[${index}].quota.account: must not be there. An imported key has a count of its own.`);
  }
  const isAll = Array.isArray(workspaces) && workspaces.length === 1 && workspaces[0] === '*';
  try {
    const checked = checkedApiKeyRecord({
      ...record,
      tenant,
      mode,
      workspaces: isAll ? 'all' : workspaces,
      ...(expiresAt != null && { expiresAt: Date.parse(expiresAt) }),
    });
    return {
      ...checked,
      name: typeof name === 'string' && name !== '' ? name.slice(0, LONGEST_NAME) : checked.id,
      prefix: typeof prefix === 'string' ? prefix.slice(0, LONGEST_PREFIX) : '',
      metadata: {},
      createdAt: now,
      source: 'operation',
    };
  } catch (error) {
    throw new UsageError(`[${index}]: ${error instanceof Error ? error.message : 'is malformed.'}`);
  }
}

const LONGEST_NAME = 128;
const LONGEST_PREFIX = 24;
