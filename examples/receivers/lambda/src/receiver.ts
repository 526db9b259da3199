import { receiver } from '@svc/webhook-verify/lambda';
import type { DedupStore } from '@svc/webhook-verify/receive';
import { onDelivery } from './on-delivery.ts';

/** Makes the receiver of a secret. `dedup` remembers the deliveries that are handled. */
export function makeReceiver(secret: string | undefined, dedup: DedupStore): ReturnType<typeof receiver> {
  return receiver({
    secret,
    dedup,
    onDelivery,
    onRejected: ({ code, message }) => console.warn(`refused: ${code}. ${message}`),
  });
}
