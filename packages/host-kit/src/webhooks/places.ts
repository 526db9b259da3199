import type { ClaimedFor } from '../ports/deliveries.ts';
import type { Concurrency } from './concurrency.ts';
import type { Lane, Lanes } from './lanes.ts';
import { SharedPlaces } from './shared-places.ts';
import type { RoomForAttempts } from './turn-order.ts';

/** The place of an attempt among those under way. */
export interface Place {
  readonly lane: Lane;
  /** Gives the place to another attempt. An attempt that sends nothing does that early. Later calls do nothing. */
  readonly giveBack: () => void;
}

/** The places of the attempts under way, shared by the tenants, the subscriptions and the two lanes. */
export class Places implements RoomForAttempts {
  readonly #lanes: Lanes;
  readonly #perSubscription: number;
  readonly #all: SharedPlaces;
  readonly #slow: SharedPlaces;
  /** The number of places of each subscription that has any. */
  readonly #takenBy = new Map<string, number>();

  constructor(limits: Concurrency, lanes: Lanes) {
    this.#lanes = lanes;
    this.#perSubscription = limits.perSubscription;
    this.#all = new SharedPlaces(limits);
    this.#slow = new SharedPlaces(slowLane(limits));
  }

  hasRoomForTenant(tenant: string): boolean {
    return this.#all.hasRoomFor(tenant);
  }

  hasRoomFor({ tenant, webhookId }: ClaimedFor): boolean {
    const own = this.#takenBy.get(webhookId) ?? 0;
    if (this.#lanes.of(webhookId) === 'regular') return own < this.#perSubscription;
    return own === 0 && this.#slow.hasRoomFor(tenant);
  }

  take({ tenant, webhookId }: ClaimedFor): Place {
    const lane = this.#lanes.of(webhookId);
    this.#all.take(tenant);
    if (lane === 'slow') this.#slow.take(tenant);
    this.#takenBy.set(webhookId, (this.#takenBy.get(webhookId) ?? 0) + 1);
    let isTaken = true;
    return {
      lane,
      giveBack: () => {
        if (!isTaken) return;
        isTaken = false;
        this.#all.giveBack(tenant);
        if (lane === 'slow') this.#slow.giveBack(tenant);
        const left = (this.#takenBy.get(webhookId) ?? 1) - 1;
        if (left === 0) this.#takenBy.delete(webhookId);
        else this.#takenBy.set(webhookId, left);
      },
    };
  }
}

/** The slow lane has half of the places, so that receivers which hang leave the other half to those that answer. */
export function slowLane({ total, perTenant }: Concurrency): Omit<Concurrency, 'perSubscription'> {
  const half = (places: number) => Math.max(1, Math.floor(places / 2));
  return { total: half(total), perTenant: half(perTenant) };
}
