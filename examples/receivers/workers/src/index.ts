import { toFetchHandler } from '@svc/webhook-verify/fetch';
import { durableDedupStore } from './delivery-record.ts';
import type { Env } from './env.ts';
import { onDelivery } from './on-delivery.ts';

export { DeliveryRecord } from './delivery-record.ts';

export default {
  async fetch(request, env): Promise<Response> {
    if (new URL(request.url).pathname !== '/webhooks') return new Response(null, { status: 404 });
    const receive = toFetchHandler({
      secret: env.WEBHOOK_SECRET,
      dedup: durableDedupStore(env.DELIVERIES),
      onDelivery,
      onRejected: ({ code, message }) => console.warn(`refused: ${code}. ${message}`),
      onFailed: (error) => console.error(error),
    });
    return receive(request);
  },
} satisfies ExportedHandler<Env>;
