import type { ClaimedFor, ClaimRequest } from '../../ports/deliveries.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { inTurns, type TenantInLine } from '../in-turns.ts';
import { integer, optional, type Row, text } from '../sql/row.ts';
import type { Database } from './database.ts';
import { SearchRound } from './search-round.ts';

// OFFSET 0 keeps the planner from computing a step once for each use of its result.
// Steps along the index from tenant to tenant, from the one after $1 until $1 itself, and reads the first due deliveries
// of each. A long backlog of one tenant costs no more than a short one. LIMIT $4 / n: the more tenants, the fewer of each.
export const DUE = {
  name: 'deliveries-due',
  text: `WITH RECURSIVE ring AS (
      SELECT $1::text COLLATE "C" AS tenant, false AS wrapped, 0 AS n
      UNION ALL
      SELECT next.tenant, ring.wrapped OR next.tenant <= ring.tenant, ring.n + 1
      FROM ring CROSS JOIN LATERAL (SELECT coalesce(
        (SELECT d.tenant FROM deliveries d WHERE d.state = 'waiting' AND d.tenant > ring.tenant
          ORDER BY d.tenant, d.webhook_id, d.due_at, d.position LIMIT 1),
        CASE WHEN NOT ring.wrapped THEN (SELECT d.tenant FROM deliveries d WHERE d.state = 'waiting'
          ORDER BY d.tenant, d.webhook_id, d.due_at, d.position LIMIT 1) END) AS tenant OFFSET 0) AS next
      WHERE ring.n < $2 AND next.tenant IS NOT NULL
        AND NOT ((ring.wrapped OR next.tenant <= ring.tenant) AND next.tenant > $1)),
    most AS MATERIALIZED (SELECT greatest(8, $4::integer / greatest(1, max(n))) AS each FROM ring)
    SELECT ring.tenant, ring.n, most.each, due.webhook_id, due.due, s.status
    FROM ring CROSS JOIN most
    LEFT JOIN LATERAL (SELECT webhook_id, count(*) AS due, min(due_at) AS first
      FROM (SELECT d.webhook_id, d.due_at FROM deliveries d
        WHERE d.state = 'waiting' AND d.tenant = ring.tenant AND d.due_at <= $3
        ORDER BY d.due_at LIMIT most.each) AS w GROUP BY webhook_id) AS due ON true
    LEFT JOIN subscriptions s ON s.webhook_id = due.webhook_id
    WHERE ring.n > 0 ORDER BY ring.n, due.first, due.webhook_id`,
};
// Steps along the index from subscription to subscription of a tenant, from the one after `last` until `last` itself.
export const STEPS = {
  name: 'deliveries-steps',
  text: `SELECT t.tenant, step.webhook_id, step.n, due.due, s.status
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (tenant, last, nth)
    CROSS JOIN LATERAL (
      WITH RECURSIVE steps AS (
        SELECT t.last COLLATE "C" AS webhook_id, false AS wrapped, 0 AS n
        UNION ALL
        SELECT next.webhook_id, steps.wrapped OR next.webhook_id <= steps.webhook_id, steps.n + 1
        FROM steps CROSS JOIN LATERAL (SELECT coalesce(
          (SELECT d.webhook_id FROM deliveries d
            WHERE d.state = 'waiting' AND d.tenant = t.tenant AND d.webhook_id > steps.webhook_id
            ORDER BY d.webhook_id, d.due_at, d.position LIMIT 1),
          CASE WHEN NOT steps.wrapped THEN (SELECT d.webhook_id FROM deliveries d
            WHERE d.state = 'waiting' AND d.tenant = t.tenant
            ORDER BY d.webhook_id, d.due_at, d.position LIMIT 1) END) AS webhook_id OFFSET 0) AS next
        WHERE steps.n < $3 AND next.webhook_id IS NOT NULL
          AND NOT ((steps.wrapped OR next.webhook_id <= steps.webhook_id) AND next.webhook_id > t.last COLLATE "C"))
      SELECT webhook_id, n FROM steps WHERE n > 0) AS step
    CROSS JOIN LATERAL (SELECT count(*) AS due FROM (SELECT 1 FROM deliveries d
      WHERE d.state = 'waiting' AND d.tenant = t.tenant AND d.webhook_id = step.webhook_id AND d.due_at <= $4
      ORDER BY d.due_at, d.position LIMIT $5) AS w) AS due
    LEFT JOIN subscriptions s ON s.webhook_id = step.webhook_id
    ORDER BY t.nth, step.n`,
};

/** The deliveries of one subscription that a claim may take. */
export interface PlannedTurns extends ClaimedFor {
  readonly most: number;
}

/**
 * Finds the subscriptions that have their turns. A claim looks at the first due deliveries of each tenant. A tenant that
 * has more than that is walked through, subscription by subscription and a part with each claim: only its own
 * deliveries wait for that.
 */
export class DueDeliveries {
  readonly #database: Database;
  /** The tenant that had the last turn. */
  #lastTenant = '';
  /** The subscription that had the last turn, for tenants that had more due deliveries than the last claim took. */
  readonly #lastOf = new Map<string, string>();
  /** The looks at part of the tenants since something was claimed. */
  #tenantsRound = new SearchRound();
  /** The same for the walks through tenants of which nothing was claimed. */
  #walkRounds = new Map<string, SearchRound>();
  /** The last look ended before it had found a delivery of each tenant. `slowly`: the looks have been round without one. */
  #goesOn: 'fast' | 'slowly' | undefined;
  /** The earliest time of a claim that goes on. An earlier one has another cause. */
  #goesOnFrom = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Returns the time of the claim that goes on where the last one was cut short: in 50 ms, or in 1 s when the looks have
   * been round and found nothing that can be claimed. A claim at another time begins the round anew.
   *
   * @returns undefined when the last look was a whole one
   */
  goOnAt(now: number): number | undefined {
    if (this.#goesOn === undefined) return undefined;
    const waitMs = this.#goesOn === 'fast' ? GO_ON_MS : GO_ON_SLOWLY_MS;
    // A timer may fire a little early.
    this.#goesOnFrom = now + waitMs / 2;
    return now + waitMs;
  }

  /** Returns the subscriptions that have their turns, in this order. */
  async plan({ now, limit, room }: ClaimRequest, transaction: Transaction): Promise<readonly PlannedTurns[]> {
    if (now < this.#goesOnFrom) this.beginRounds();
    const { rows } = await this.#database.within(transaction, DUE, [this.#lastTenant, MOST_TENANTS, now, MOST_SEEN]);
    const looks = looksOf(rows);
    const crowded = looks.filter(({ tenant, seen, each }) => seen >= each && room.hasRoomFor(tenant));
    const walks = await this.#walk(crowded, { now, limit }, transaction);
    const line = looks.map((look) => walks.get(look.tenant) ?? afterLast(look, this.#lastOf.get(look.tenant)));
    const picked = inTurns(line.map(tenantInLine), { limit, room });
    const isPartOfTenants = looks.length >= MOST_TENANTS;
    this.#remember(picked, { line, isPartOfTenants, room });
    return planned(picked);
  }

  async #walk(
    crowded: readonly Look[],
    { now, limit }: Pick<ClaimRequest, 'now' | 'limit'>,
    transaction: Transaction,
  ): Promise<ReadonlyMap<string, Look>> {
    if (crowded.length === 0) return new Map();
    const tenants = crowded.map(({ tenant }) => tenant);
    const last = tenants.map((tenant) => this.#lastOf.get(tenant) ?? '');
    const steps = Math.max(8, Math.ceil(MOST_SEEN / tenants.length));
    const each = Math.min(limit, MOST_OF_SUBSCRIPTION);
    const { rows } = await this.#database.within(transaction, STEPS, [tenants, last, steps, now, each]);
    const walks = new Map<string, MutableLook>();
    for (const row of rows) {
      const tenant = text(row, 'tenant');
      const walk = walks.get(tenant) ?? { tenant, seen: 0, each: steps, subscriptions: [], last: undefined };
      walks.set(tenant, walk);
      see(walk, row);
      walk.seen = integer(row, 'n');
      walk.last = text(row, 'webhook_id');
    }
    return walks;
  }

  #remember(
    picked: readonly ClaimedFor[],
    {
      line,
      isPartOfTenants,
      room,
    }: Pick<ClaimRequest, 'room'> & {
      readonly line: readonly Look[];
      readonly isPartOfTenants: boolean;
    },
  ): void {
    const lastPicked = new Map(picked.map(({ tenant, webhookId }) => [tenant, webhookId]));
    const idle = line.filter(({ tenant }) => !lastPicked.has(tenant) && room.hasRoomFor(tenant));
    const unfinished = idle.filter(({ seen, each, last }) => last !== undefined && seen >= each);
    // Before the places from which the walks go on are changed.
    this.#walkRounds = new Map(unfinished.map(({ tenant, last = '' }) => [tenant, this.#walked(tenant, last)]));
    for (const { tenant, subscriptions, last } of line) {
      const isLeft = last !== undefined || subscriptions.length > 1;
      if (isLeft) this.#goOnAfter(tenant, lastPicked.get(tenant));
      else this.#lastOf.delete(tenant);
    }
    for (const { tenant, last } of unfinished) this.#goOnAfter(tenant, last);
    const lastSeen = isPartOfTenants ? line.at(-1)?.tenant : undefined;
    const rounds = [...this.#walkRounds.values()];
    if (picked.length > 0) this.#tenantsRound = new SearchRound();
    else if (lastSeen !== undefined) rounds.push(this.#tenantsRound.looked(this.#lastTenant, lastSeen));
    if (rounds.length === 0) this.#goesOn = undefined;
    else this.#goesOn = rounds.every(({ isOver }) => isOver) ? 'slowly' : 'fast';
    this.#lastTenant = picked.at(-1)?.tenant ?? lastSeen ?? this.#lastTenant;
  }

  /** Notes a walk to `until`, and returns the round that it belongs to. */
  #walked(tenant: string, until: string): SearchRound {
    const round = this.#walkRounds.get(tenant) ?? new SearchRound();
    return round.looked(this.#lastOf.get(tenant) ?? '', until);
  }

  /** Begins the looks anew, as when no delivery is due or a claim has another cause than to go on. */
  beginRounds(): void {
    this.#tenantsRound = new SearchRound();
    this.#walkRounds.clear();
  }

  #goOnAfter(tenant: string, webhookId: string | undefined): void {
    if (webhookId === undefined) return;
    this.#lastOf.delete(tenant);
    this.#lastOf.set(tenant, webhookId);
    const [oldest] = this.#lastOf.keys();
    if (this.#lastOf.size > MOST_TENANTS && oldest !== undefined) this.#lastOf.delete(oldest);
  }
}

/** The due deliveries of a tenant that a statement has seen. */
interface Look {
  readonly tenant: string;
  /** The number of deliveries or subscriptions that it has seen. */
  readonly seen: number;
  /** The number at which it stopped. */
  readonly each: number;
  readonly subscriptions: readonly { readonly webhookId: string; readonly due: number }[];
  /** The last subscription of a walk. Undefined: it was no walk. */
  readonly last: string | undefined;
}

type MutableLook = { -readonly [Name in keyof Look]: Look[Name] } & {
  readonly subscriptions: { readonly webhookId: string; readonly due: number }[];
};

function looksOf(rows: readonly Row[]): readonly Look[] {
  const looks = new Map<string, MutableLook>();
  for (const row of rows) {
    const tenant = text(row, 'tenant');
    const each = integer(row, 'each');
    const look = looks.get(tenant) ?? { tenant, seen: 0, each, subscriptions: [], last: undefined };
    looks.set(tenant, look);
    look.seen += optional(row, 'due', integer) ?? 0;
    if (optional(row, 'webhook_id', text) !== undefined) see(look, row);
  }
  return [...looks.values()];
}

/** Adds a subscription to a look, unless it is paused, removed or has nothing due. */
function see(look: MutableLook, row: Row): void {
  const status = optional(row, 'status', text);
  const due = integer(row, 'due');
  if (status === undefined || status === 'paused' || due === 0) return;
  look.subscriptions.push({ webhookId: text(row, 'webhook_id'), due });
}

/** Sorts the subscriptions, and begins after the one that had the last turn. Without one, the earliest due is first. */
function afterLast(look: Look, last: string | undefined): Look {
  if (last === undefined) return look;
  const sorted = look.subscriptions.toSorted((a, b) => (a.webhookId < b.webhookId ? -1 : 1));
  const isAfter = ({ webhookId }: { readonly webhookId: string }) => webhookId > last;
  return { ...look, subscriptions: [...sorted.filter(isAfter), ...sorted.filter((each) => !isAfter(each))] };
}

function tenantInLine({ tenant, subscriptions }: Look): TenantInLine<ClaimedFor> {
  return {
    tenant,
    subscriptions: subscriptions.map(({ webhookId, due }) => ({
      webhookId,
      due: (most) => Array.from({ length: Math.min(due, most) }, () => ({ tenant, webhookId })),
    })),
  };
}

function planned(picked: readonly ClaimedFor[]): readonly PlannedTurns[] {
  const most = new Map<string, number>();
  for (const { webhookId } of picked) most.set(webhookId, (most.get(webhookId) ?? 0) + 1);
  const first = new Map(picked.toReversed().map((each) => [each.webhookId, each]));
  return [...most].flatMap(([webhookId, count]) => {
    const turn = first.get(webhookId);
    return turn === undefined ? [] : [{ ...turn, most: count }];
  });
}

/** The time after which a claim goes on where the last one was cut short. */
const GO_ON_MS = 50;
const GO_ON_SLOWLY_MS = 1000;
/** Limits of one look, which bound its time: about 10 µs for each tenant and for each delivery or subscription. */
const MOST_TENANTS = 256;
const MOST_SEEN = 256;
const MOST_OF_SUBSCRIPTION = 64;
