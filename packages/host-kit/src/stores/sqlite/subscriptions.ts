import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ABSENT, OTHER_WORKSPACE } from '../../lookup.ts';
import { coversScope, type Subscription, type SubscriptionStore, type Topic } from '../../ports/subscriptions.ts';
import type { Transaction } from '../../ports/transaction.ts';
import type { PassedOver } from '../passed-over.ts';
import { integer, text } from '../sql/row.ts';
import {
  documentOf,
  listensTo,
  pushKey,
  SUBSCRIPTIONS,
  secretColumns,
  stateColumns,
  subscriptionOf,
} from '../sql/subscriptions.ts';
import { type ReadCache, readCache } from './read-cache.ts';
import type { Writer } from './writer.ts';

const INSERT = `INSERT INTO subscriptions (webhook_id, tenant, mode, status, circuit, failures, outage, sealed_secret,
  secret_fingerprint, previous_sealed_secret, previous_replaced_at, previous_expires_at, document)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const LISTEN = `INSERT OR IGNORE INTO subscription_listens (tenant, mode, event_type, workspace, webhook_id)
  VALUES (?, ?, ?, ?, ?)`;
const OWNED = 'SELECT * FROM subscriptions WHERE webhook_id = ? AND tenant = ? AND mode = ?';
// Deletes its rows of subscription_listens too (ON DELETE CASCADE).
const DELETE = 'DELETE FROM subscriptions WHERE webhook_id = ?';
const LISTENING = `SELECT webhook_id FROM subscription_listens
  WHERE tenant = ? AND mode = ? AND event_type = ? AND workspace = ?`;
// The keys of pushes begin with `run:`, and no others.
const ANY_PUSH = `SELECT webhook_id FROM subscription_listens
  WHERE tenant = ? AND mode = ? AND event_type = ? AND workspace >= 'run:' AND workspace < 'run;' LIMIT 1`;
const PUSHES = `SELECT DISTINCT s.* FROM subscription_listens e JOIN subscriptions s USING (webhook_id)
  WHERE e.tenant = ? AND e.mode = ? AND e.workspace = ? ORDER BY s.webhook_id`;
const LIST = 'SELECT * FROM subscriptions WHERE tenant = ? AND mode = ? AND webhook_id > ? ORDER BY webhook_id';
const READ = 'SELECT * FROM subscriptions WHERE webhook_id = ?';
const UPDATE_STATE = 'UPDATE subscriptions SET status = ?, circuit = ?, failures = ?, outage = ? WHERE webhook_id = ?';
const UPDATE_DOCUMENT = 'UPDATE subscriptions SET document = ? WHERE webhook_id = ?';
const UNLISTEN = 'DELETE FROM subscription_listens WHERE webhook_id = ?';
const NUMBER_EVENT = `UPDATE subscriptions SET event_run_id = coalesce(event_run_id, ?),
  event_sequence = coalesce(event_sequence, -1) + 1 WHERE webhook_id = ? RETURNING event_run_id, event_sequence`;
const UPDATE_SECRETS = `UPDATE subscriptions SET sealed_secret = ?, secret_fingerprint = ?, previous_sealed_secret = ?,
  previous_replaced_at = ?, previous_expires_at = ? WHERE webhook_id = ?`;
const FORGET_EXPIRED = `UPDATE subscriptions SET previous_sealed_secret = NULL, previous_replaced_at = NULL,
  previous_expires_at = NULL WHERE webhook_id IN
  (SELECT webhook_id FROM subscriptions WHERE previous_expires_at <= ? LIMIT ?)`;
const PAGE = 'SELECT * FROM subscriptions WHERE webhook_id > ? ORDER BY webhook_id LIMIT ?';

/** The deliveries and attempts of subscriptions, which follow their subscription. */
export interface Belongings {
  /** Deletes them, in the transaction that removes the subscription. */
  drop(webhookId: string, transaction: Transaction): void;
  /** Announces a change of the subscription's state, after its commit. */
  statusChanged(webhookId: string): void;
}

/** The parts of the store share this. */
interface Tables {
  readonly reader: DatabaseSync;
  readonly database: DatabaseSync;
  readonly writer: Writer;
  readonly belongings: Belongings;
  readonly committed: CommittedSubscriptions;
  readonly passedOver: PassedOver;
  /** Subscriptions by id. */
  readonly subscriptions: ReadCache<Subscription | undefined>;
  /** Ids of subscriptions by tenant, mode, event type and lookup key (`listensTo`). */
  readonly listeners: ReadCache<readonly string[]>;
}

/** The committed subscriptions by id, of which the recently used are in memory. */
export interface CommittedSubscriptions {
  readonly cache: ReadCache<Subscription | undefined>;
  /**
   * Returns a subscription as it is committed; undefined when there is none.
   *
   * @throws {UnreadableRecord} when it cannot be read
   */
  of(webhookId: string): Subscription | undefined;
  /** Returns whether there is such a subscription, also when it cannot be read. */
  has(webhookId: string): boolean;
}

export function committedSubscriptions(reader: DatabaseSync, writer: Writer): CommittedSubscriptions {
  const read = reader.prepare(READ);
  const cache = readCache<Subscription | undefined>(writer, MAX_CACHED);
  return {
    cache,
    of: (webhookId) => cache.of(webhookId, () => found(read, webhookId)),
    has: (webhookId) => cache.of(webhookId, () => undefined) !== undefined || read.get(webhookId) !== undefined,
  };
}

export function subscriptionStore(
  reader: DatabaseSync,
  database: DatabaseSync,
  writer: Writer,
  { committed, belongings, passedOver }: Pick<Tables, 'committed' | 'belongings' | 'passedOver'>,
): SubscriptionStore {
  const subscriptions = committed.cache;
  const listeners = readCache<readonly string[]>(writer, MAX_CACHED);
  const tables: Tables = { reader, database, writer, belongings, committed, passedOver, subscriptions, listeners };
  return { ...registering(tables), ...listening(tables), ...reading(tables), ...updating(tables) };
}

/** More than the subscriptions that a host delivers to at the same time. */
const MAX_CACHED = 10_000;

function registering({
  database,
  writer,
  belongings,
  subscriptions,
  listeners,
}: Tables): Pick<SubscriptionStore, 'insert' | 'remove'> {
  const insert = database.prepare(INSERT);
  const listen = database.prepare(LISTEN);
  const owned = database.prepare(OWNED);
  const remove = database.prepare(DELETE);

  return {
    async insert(subscription, transaction) {
      const { webhookId, tenant, mode } = subscription;
      subscriptions.changes(transaction, webhookId);
      listeners.changes(transaction);
      insert.run(
        webhookId,
        tenant,
        mode,
        ...stateColumns(subscription),
        ...secretColumns(subscription),
        documentOf(subscription),
      );
      for (const row of listensOf(subscription)) listen.run(...row);
    },
    async remove(tenancy, webhookId, transaction) {
      writer.require(transaction);
      const row = owned.get(webhookId, tenancy.tenant, tenancy.mode);
      if (row === undefined) return ABSENT;
      const subscription = subscriptionOf(row);
      if (!coversScope(tenancy, subscription)) return OTHER_WORKSPACE;
      subscriptions.changes(transaction, webhookId);
      listeners.changes(transaction);
      remove.run(webhookId);
      belongings.drop(webhookId, transaction);
      return { kind: 'found', value: subscription };
    },
  };
}

function listening({
  database,
  writer,
  subscriptions,
  listeners,
  passedOver,
}: Tables): Pick<SubscriptionStore, 'listening' | 'pushesOf'> {
  const listening = database.prepare(LISTENING);
  const pushing = database.prepare(PUSHES);
  const anyPush = database.prepare(ANY_PUSH);
  const current = database.prepare(READ);

  return {
    async listening(topics, transaction) {
      writer.require(transaction);
      return topics.map((topic) =>
        listenersOf(topic).flatMap(
          (webhookId) => passedOver.over(() => subscriptions.of(webhookId, () => found(current, webhookId))) ?? [],
        ),
      );
    },
    async pushesOf(run, transaction) {
      writer.require(transaction);
      return passedOver.all(SUBSCRIPTIONS, pushing.all(run.tenant, run.mode, pushKey(run)));
    },
  };

  /** Returns the ids of subscriptions to all workspaces, to the run's workspace, and of pushes of the run. */
  function listenersOf(topic: Topic): readonly string[] {
    const keys = topic.workspace === undefined ? ['*'] : ['*', topic.workspace];
    const ids = keys.flatMap((key) => cachedIds(topic, key));
    // The pushes of a run are not cached, because no other run asks for the same key. Most tenants have none.
    return hasPushes(topic) ? [...ids, ...idsOf(topic, pushKey(topic))] : ids;
  }

  function hasPushes({ tenant, mode, eventType }: Topic): boolean {
    const first = () => anyPush.all(tenant, mode, eventType).map((row) => text(row, 'webhook_id'));
    return listeners.of(JSON.stringify([tenant, mode, eventType]), first).length > 0;
  }

  function cachedIds(topic: Topic, key: string): readonly string[] {
    const { tenant, mode, eventType } = topic;
    return listeners.of(JSON.stringify([tenant, mode, eventType, key]), () => idsOf(topic, key));
  }

  function idsOf({ tenant, mode, eventType }: Topic, key: string): readonly string[] {
    return listening.all(tenant, mode, eventType, key).map((row) => text(row, 'webhook_id'));
  }
}

function reading({
  reader,
  committed,
  passedOver,
}: Tables): Pick<SubscriptionStore, 'find' | 'list' | 'read' | 'page'> {
  const find = reader.prepare(OWNED);
  const list = reader.prepare(LIST);
  const page = reader.prepare(PAGE);

  return {
    async find(tenancy, webhookId) {
      const row = find.get(webhookId, tenancy.tenant, tenancy.mode);
      if (row === undefined) return ABSENT;
      const subscription = subscriptionOf(row);
      return coversScope(tenancy, subscription) ? { kind: 'found', value: subscription } : OTHER_WORKSPACE;
    },
    async list(tenancy, { after, limit }) {
      const page: Subscription[] = [];
      for (const row of list.iterate(tenancy.tenant, tenancy.mode, after)) {
        const subscription = passedOver.over(() => subscriptionOf(row));
        if (subscription !== undefined && coversScope(tenancy, subscription)) page.push(subscription);
        if (page.length >= limit) break;
      }
      return page;
    },
    read: async (webhookId) => committed.of(webhookId),
    page: (asked) => passedOver.page(SUBSCRIPTIONS, asked, (after, limit) => page.all(after, limit)),
  };
}

function updating({
  database,
  writer,
  belongings,
  subscriptions,
  listeners,
}: Tables): Pick<
  SubscriptionStore,
  'updateState' | 'updateSecrets' | 'updateDetails' | 'numberEvent' | 'forgetExpiredSecrets'
> {
  const numberEvent = database.prepare(NUMBER_EVENT);
  const updateDocument = database.prepare(UPDATE_DOCUMENT);
  const unlisten = database.prepare(UNLISTEN);
  const listen = database.prepare(LISTEN);
  const current = database.prepare(READ);
  const updateState = database.prepare(UPDATE_STATE);
  const updateSecrets = database.prepare(UPDATE_SECRETS);
  const forgetExpired = database.prepare(FORGET_EXPIRED);

  return {
    async updateState(webhookId, change, transaction) {
      subscriptions.changes(transaction, webhookId);
      const row = current.get(webhookId);
      if (row === undefined) return;
      updateState.run(...stateColumns(change(subscriptionOf(row))), webhookId);
      writer.whenCommitted(transaction, () => belongings.statusChanged(webhookId));
    },
    async updateSecrets(webhookId, change, transaction) {
      subscriptions.changes(transaction, webhookId);
      const row = current.get(webhookId);
      if (row === undefined) return;
      updateSecrets.run(...secretColumns(change(subscriptionOf(row))), webhookId);
    },
    async updateDetails(webhookId, change, transaction) {
      subscriptions.changes(transaction, webhookId);
      listeners.changes(transaction);
      const row = current.get(webhookId);
      if (row === undefined) return;
      const subscription = subscriptionOf(row);
      const { events, tags, description } = change(subscription);
      const changed = { ...subscription, events, tags, description };
      updateDocument.run(documentOf(changed), webhookId);
      unlisten.run(webhookId);
      for (const listened of listensOf(changed)) listen.run(...listened);
    },
    async numberEvent(webhookId, runId, transaction) {
      writer.require(transaction);
      const row = numberEvent.get(runId, webhookId);
      if (row === undefined) return undefined;
      return { runId: text(row, 'event_run_id'), sequence: integer(row, 'event_sequence') };
    },
    forgetExpiredSecrets: (now, limit) =>
      writer.transaction(async (transaction) => {
        subscriptions.changes(transaction);
        return Number(forgetExpired.run(now, limit).changes);
      }),
  };
}

/** The rows of `subscription_listens`. */
function listensOf(subscription: Subscription) {
  const { tenant, mode, events, webhookId } = subscription;
  const keys = listensTo(subscription);
  return events.flatMap((eventType) => keys.map((key) => [tenant, mode, eventType, key, webhookId] as const));
}

function found(statement: StatementSync, webhookId: string): Subscription | undefined {
  const row = statement.get(webhookId);
  return row === undefined ? undefined : subscriptionOf(row);
}
