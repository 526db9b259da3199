import type { ClaimRequest } from '../ports/deliveries.ts';

/** A tenant with due deliveries. */
export interface TenantInLine<T> {
  readonly tenant: string;
  /** Its subscriptions, in the order of their turns. Only as many are read as have a turn. */
  readonly subscriptions: Iterable<SubscriptionInLine<T>>;
}

/** A subscription that may have due deliveries. */
export interface SubscriptionInLine<T> {
  readonly webhookId: string;
  /** Returns up to `most` due deliveries, the earliest due first. Called once at most. */
  readonly due: (most: number) => Iterable<T>;
}

/**
 * Picks the deliveries of a claim in the order of the turns: the tenants in turn, one delivery each, and the
 * subscriptions of each tenant in turn.
 */
export function inTurns<T>(
  tenants: readonly TenantInLine<T>[],
  { limit, room }: Pick<ClaimRequest, 'limit' | 'room'>,
): readonly T[] {
  const picked: T[] = [];
  let line = tenants.map((tenant) => new Turns(tenant, room, limit));
  while (line.length > 0 && picked.length < limit) {
    line = line.filter((turns) => {
      if (picked.length >= limit) return false;
      const next = turns.next();
      if (next === undefined) return false;
      picked.push(next.delivery);
      return true;
    });
  }
  return picked;
}

/** The turns of one tenant. A subscription has its second turn when each other one has had its first. */
class Turns<T> {
  readonly #tenant: string;
  readonly #room: ClaimRequest['room'];
  readonly #limit: number;
  readonly #unread: Iterator<SubscriptionInLine<T>>;
  /** The subscriptions that have had a turn. */
  readonly #served: { readonly webhookId: string; readonly due: Iterator<T> }[] = [];

  constructor({ tenant, subscriptions }: TenantInLine<T>, room: ClaimRequest['room'], limit: number) {
    this.#tenant = tenant;
    this.#room = room;
    this.#limit = limit;
    this.#unread = subscriptions[Symbol.iterator]();
  }

  /** Takes the next delivery. Undefined: the tenant has none left, or no room. */
  next(): { readonly delivery: T } | undefined {
    if (!this.#room.hasRoomFor(this.#tenant)) return undefined;
    for (;;) {
      const subscription = this.#unreadWithRoom() ?? this.#served.shift();
      if (subscription === undefined) return undefined;
      const of = { tenant: this.#tenant, webhookId: subscription.webhookId };
      if (this.#room.capacityOf(of) <= 0) continue;
      const next = subscription.due.next();
      if (next.done === true) continue;
      this.#room.take(of);
      this.#served.push(subscription);
      return { delivery: next.value };
    }
  }

  #unreadWithRoom() {
    for (let next = this.#unread.next(); next.done !== true; next = this.#unread.next()) {
      const { webhookId, due } = next.value;
      const capacity = this.#room.capacityOf({ tenant: this.#tenant, webhookId });
      if (capacity > 0) return { webhookId, due: due(Math.min(capacity, this.#limit))[Symbol.iterator]() };
    }
    return undefined;
  }
}
