import { DurableObject } from 'cloudflare:workers';
import type { Claim, DedupStore } from '@svc/webhook-verify/receive';

/** A claim is prolonged while its handler runs, and expires when its worker has died. */
const CLAIM_MS = 60_000;
/** Longer than hosts retry: 3 days. */
const REMEMBER_MS = 259_200_000;

/** The memory of one delivery. A durable object handles one call at a time, so two claims never both succeed. */
export class DeliveryRecord extends DurableObject {
  /** Claims the delivery, unless it is handled or another claim is open. */
  async claim(): Promise<Claim> {
    const known = await this.#read();
    if (known !== undefined && known.token === undefined) return { state: 'handled' };
    if (known !== undefined) return { state: 'in-flight', secondsLeft: (known.until - Date.now()) / 1000 };
    const token = crypto.randomUUID();
    await this.#write({ token, until: Date.now() + CLAIM_MS });
    return { state: 'claimed', token, claimSeconds: CLAIM_MS / 1000 };
  }

  /** Remembers that the delivery is handled. */
  async confirm(token: string): Promise<void> {
    const known = await this.#read();
    if (known === undefined || known.token === token) await this.#write({ until: Date.now() + REMEMBER_MS });
  }

  /** Prolongs the claim, and tells whether it still holds the delivery. */
  async prolong(token: string): Promise<boolean> {
    if ((await this.#read())?.token !== token) return false;
    await this.#write({ token, until: Date.now() + CLAIM_MS });
    return true;
  }

  /** Gives the claim back, so that the delivery can be claimed again. */
  async release(token: string): Promise<void> {
    if ((await this.#read())?.token === token) await this.ctx.storage.deleteAll();
  }

  /** Forgets the delivery when its time is over. */
  override async alarm(): Promise<void> {
    await this.ctx.storage.deleteAll();
  }

  async #read(): Promise<Stored | undefined> {
    const stored = await this.ctx.storage.get<Stored>('record');
    return stored !== undefined && stored.until > Date.now() ? stored : undefined;
  }

  async #write(record: Stored): Promise<void> {
    await this.ctx.storage.put('record', record);
    await this.ctx.storage.setAlarm(record.until);
  }
}

/** Without a token the delivery is handled. `until` is the time of its end, in milliseconds since the epoch. */
interface Stored {
  readonly token?: string;
  readonly until: number;
}

/** Makes a dedup store that every location of the worker shares. */
export function durableDedupStore(deliveries: DurableObjectNamespace<DeliveryRecord>): DedupStore {
  return {
    claim: (key) => deliveries.getByName(key).claim(),
    confirm: (key, token) => deliveries.getByName(key).confirm(token),
    release: (key, token) => deliveries.getByName(key).release(token),
    prolong: (key, token) => deliveries.getByName(key).prolong(token),
  };
}
