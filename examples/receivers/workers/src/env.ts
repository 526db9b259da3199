import type { DeliveryRecord } from './delivery-record.ts';

/** The bindings of this worker: its secrets, and the objects that wrangler.jsonc names. */
export interface Env {
  /** The secret of the subscription: `npx wrangler secret put WEBHOOK_SECRET`. */
  readonly WEBHOOK_SECRET?: string;
  /** One durable object for each delivery. */
  readonly DELIVERIES: DurableObjectNamespace<DeliveryRecord>;
}
