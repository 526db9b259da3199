import { ABSENT, OTHER_WORKSPACE } from '../../lookup.ts';
import { coversScope, type Subscription, type SubscriptionStore, type Topic } from '../../ports/subscriptions.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { PassedOver } from '../passed-over.ts';
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
import type { Database } from './database.ts';
import { gathered } from './gathered.ts';

const INSERT = {
  name: 'subscriptions-insert',
  text: `INSERT INTO subscriptions (webhook_id, tenant, mode, status, circuit, failures, outage, sealed_secret, secret_fingerprint,
    previous_sealed_secret, previous_replaced_at, previous_expires_at, document)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
};
const LISTEN = {
  name: 'subscriptions-listen',
  text: `INSERT INTO subscription_events (tenant, mode, event_type, workspace, webhook_id)
    SELECT $1, $2, e.event_type, w.workspace, $5
    FROM unnest($3::text[]) AS e (event_type) CROSS JOIN unnest($4::text[]) AS w (workspace) ON CONFLICT DO NOTHING`,
};
const OWNED = {
  name: 'subscriptions-owned',
  text: 'SELECT * FROM subscriptions WHERE webhook_id = $1 AND tenant = $2 AND mode = $3',
};
const OWNED_LOCKED = { name: 'subscriptions-owned-locked', text: `${OWNED.text} FOR UPDATE` };
// Deletes its rows of subscription_events too (ON DELETE CASCADE).
const DELETE = { name: 'subscriptions-delete', text: 'DELETE FROM subscriptions WHERE webhook_id = $1' };
const LISTENING = {
  name: 'subscriptions-listening',
  text: `SELECT p.n AS place, s.* FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
      AS p (tenant, mode, event_type, workspace, n)
    JOIN subscription_events e ON e.tenant = p.tenant AND e.mode = p.mode AND e.event_type = p.event_type
      AND e.workspace = p.workspace
    JOIN subscriptions s USING (webhook_id) ORDER BY p.n, s.webhook_id`,
};
const PUSHES = {
  name: 'subscriptions-pushes',
  text: `SELECT * FROM subscriptions WHERE webhook_id IN (SELECT webhook_id FROM subscription_events
    WHERE tenant = $1 AND mode = $2 AND workspace = $3) ORDER BY webhook_id`,
};
const LIST = {
  name: 'subscriptions-list',
  text: 'SELECT * FROM subscriptions WHERE tenant = $1 AND mode = $2 AND webhook_id > $3 ORDER BY webhook_id LIMIT $4',
};
const READ = {
  name: 'subscriptions-read',
  text: 'SELECT * FROM subscriptions WHERE webhook_id = ANY ($1::text[])',
};
const READ_LOCKED = {
  name: 'subscriptions-read-locked',
  text: 'SELECT * FROM subscriptions WHERE webhook_id = $1 FOR NO KEY UPDATE',
};
const UPDATE_STATE = {
  name: 'subscriptions-update-state',
  text: 'UPDATE subscriptions SET status = $1, circuit = $2, failures = $3, outage = $4 WHERE webhook_id = $5',
};
const UPDATE_DOCUMENT = {
  name: 'subscriptions-update-document',
  text: 'UPDATE subscriptions SET document = $1 WHERE webhook_id = $2',
};
const UNLISTEN = {
  name: 'subscriptions-unlisten',
  text: 'DELETE FROM subscription_events WHERE webhook_id = $1',
};
const NUMBER_EVENT = {
  name: 'subscriptions-number-event',
  text: `UPDATE subscriptions SET event_run_id = coalesce(event_run_id, $1),
    event_sequence = coalesce(event_sequence, -1) + 1 WHERE webhook_id = $2 RETURNING event_run_id, event_sequence`,
};
const UPDATE_SECRETS = {
  name: 'subscriptions-update-secrets',
  text: `UPDATE subscriptions SET sealed_secret = $1, secret_fingerprint = $2, previous_sealed_secret = $3,
    previous_replaced_at = $4, previous_expires_at = $5 WHERE webhook_id = $6`,
};
const FORGET_EXPIRED = {
  name: 'subscriptions-forget-expired',
  text: `UPDATE subscriptions SET previous_sealed_secret = NULL, previous_replaced_at = NULL, previous_expires_at = NULL
    WHERE webhook_id IN (SELECT webhook_id FROM subscriptions WHERE previous_expires_at <= $1 LIMIT $2
      FOR NO KEY UPDATE SKIP LOCKED)`,
};
const EVERY = {
  name: 'subscriptions-every',
  text: 'SELECT * FROM subscriptions WHERE webhook_id > $1 ORDER BY webhook_id LIMIT $2',
};

/** @param drop deletes the deliveries and attempts of a subscription, in the transaction that removes it */
export function subscriptionStore(
  database: Database,
  drop: (subscription: Subscription, transaction: Transaction) => Promise<void>,
  passedOver: PassedOver = new PassedOver(),
): SubscriptionStore {
  const reads = { ...listening(database, passedOver), ...reading(database, passedOver) };
  return { ...registering(database, drop), ...reads, ...updating(database) };
}

function registering(
  database: Database,
  drop: (subscription: Subscription, transaction: Transaction) => Promise<void>,
): Pick<SubscriptionStore, 'insert' | 'remove'> {
  return {
    async insert(subscription, transaction) {
      const { webhookId, tenant, mode } = subscription;
      const state = [...stateColumns(subscription), ...secretColumns(subscription)];
      const values = [webhookId, tenant, mode, ...state, documentOf(subscription)];
      await database.within(transaction, INSERT, values);
      await listen(database, subscription, transaction);
    },
    async remove(tenancy, webhookId, transaction) {
      const { rows } = await database.within(transaction, OWNED_LOCKED, [webhookId, tenancy.tenant, tenancy.mode]);
      const [row] = rows;
      if (row === undefined) return ABSENT;
      const subscription = subscriptionOf(row);
      if (!coversScope(tenancy, subscription)) return OTHER_WORKSPACE;
      await database.within(transaction, DELETE, [webhookId]);
      await drop(subscription, transaction);
      return { kind: 'found', value: subscription };
    },
  };
}

function listening(database: Database, passedOver: PassedOver): Pick<SubscriptionStore, 'listening' | 'pushesOf'> {
  return {
    async listening(topics, transaction) {
      const lookups = topics.map(lookupsOf);
      // Topics share lookups, so each different one is made once.
      const distinct = new Map(lookups.flat().map((lookup) => [lookupKey(lookup), lookup]));
      const { rows } = await database.within(transaction, LISTENING, [
        [...distinct.values()].map(({ tenant }) => tenant),
        [...distinct.values()].map(({ mode }) => mode),
        [...distinct.values()].map(({ eventType }) => eventType),
        [...distinct.values()].map(({ workspace }) => workspace),
      ]);
      const found = new Map([...distinct.keys()].map((key) => [key, [] as Subscription[]]));
      const lists = [...found.values()];
      for (const row of rows) lists[integer(row, 'place') - 1]?.push(...passedOver.all(SUBSCRIPTIONS, [row]));
      return lookups.map((own) => own.flatMap((lookup) => found.get(lookupKey(lookup)) ?? []));
    },
    async pushesOf(run, transaction) {
      const { rows } = await database.within(transaction, PUSHES, [run.tenant, run.mode, pushKey(run)]);
      return passedOver.all(SUBSCRIPTIONS, rows);
    },
  };
}

/** A topic with a lookup key (`listensTo`) in place of its workspace. */
type ListenerLookup = Topic & { readonly workspace: string };

/** Returns a lookup each for subscriptions to all workspaces, to the topic's workspace, and for pushes of its run. */
function lookupsOf(topic: Topic): readonly ListenerLookup[] {
  const keys = ['*', ...(topic.workspace === undefined ? [] : [topic.workspace]), pushKey(topic)];
  return keys.map((workspace) => ({ ...topic, workspace }));
}

function lookupKey({ tenant, mode, eventType, workspace }: ListenerLookup): string {
  return JSON.stringify([tenant, mode, eventType, workspace]);
}

function reading(
  database: Database,
  passedOver: PassedOver,
): Pick<SubscriptionStore, 'find' | 'list' | 'read' | 'page'> {
  const rowOf = gathered(async (webhookIds) => {
    const { rows } = await database.query(READ, [webhookIds]);
    return new Map(rows.map((row) => [text(row, 'webhook_id'), row]));
  });

  return {
    async find(tenancy, webhookId) {
      const [row] = (await database.query(OWNED, [webhookId, tenancy.tenant, tenancy.mode])).rows;
      if (row === undefined) return ABSENT;
      const subscription = subscriptionOf(row);
      return coversScope(tenancy, subscription) ? { kind: 'found', value: subscription } : OTHER_WORKSPACE;
    },
    async list(tenancy, { after, limit }) {
      const found: Subscription[] = [];
      for (let next = after; ; ) {
        const { rows } = await database.query(LIST, [tenancy.tenant, tenancy.mode, next, PAGE]);
        for (const subscription of passedOver.all(SUBSCRIPTIONS, rows)) {
          if (coversScope(tenancy, subscription)) found.push(subscription);
          if (found.length >= limit) return found;
        }
        const last = rows.at(-1);
        if (last === undefined || rows.length < PAGE) return found;
        next = text(last, 'webhook_id');
      }
    },
    async read(webhookId) {
      const row = await rowOf(webhookId);
      if (row === undefined) return undefined;
      const [subscription = subscriptionOf(row)] = passedOver.all(SUBSCRIPTIONS, [row]);
      return subscription;
    },
    page: (asked) => passedOver.page(SUBSCRIPTIONS, asked, async (...page) => (await database.query(EVERY, page)).rows),
  };
}

const PAGE = 200;

function updating(
  database: Database,
): Pick<SubscriptionStore, 'updateState' | 'updateSecrets' | 'updateDetails' | 'numberEvent' | 'forgetExpiredSecrets'> {
  return {
    async updateState(webhookId, change, transaction) {
      const [row] = (await database.within(transaction, READ_LOCKED, [webhookId])).rows;
      if (row === undefined) return;
      await database.within(transaction, UPDATE_STATE, [...stateColumns(change(subscriptionOf(row))), webhookId]);
    },
    async updateSecrets(webhookId, change, transaction) {
      const [row] = (await database.within(transaction, READ_LOCKED, [webhookId])).rows;
      if (row === undefined) return;
      await database.within(transaction, UPDATE_SECRETS, [...secretColumns(change(subscriptionOf(row))), webhookId]);
    },
    async updateDetails(webhookId, change, transaction) {
      const [row] = (await database.within(transaction, READ_LOCKED, [webhookId])).rows;
      if (row === undefined) return;
      const subscription = subscriptionOf(row);
      const { events, tags, description } = change(subscription);
      const changed = { ...subscription, events, tags, description };
      await database.within(transaction, UPDATE_DOCUMENT, [documentOf(changed), webhookId]);
      await database.within(transaction, UNLISTEN, [webhookId]);
      await listen(database, changed, transaction);
    },
    async numberEvent(webhookId, runId, transaction) {
      const [row] = (await database.within(transaction, NUMBER_EVENT, [runId, webhookId])).rows;
      return row && { runId: text(row, 'event_run_id'), sequence: integer(row, 'event_sequence') };
    },
    async forgetExpiredSecrets(now, limit) {
      return (await database.query(FORGET_EXPIRED, [now, limit])).count;
    },
  };
}

/** Writes the rows by which appends find a subscription. */
async function listen(database: Database, subscription: Subscription, transaction: Transaction): Promise<void> {
  const { tenant, mode, events, webhookId } = subscription;
  const keys = [...listensTo(subscription)];
  await database.within(transaction, LISTEN, [tenant, mode, [...events], keys, webhookId]);
}
