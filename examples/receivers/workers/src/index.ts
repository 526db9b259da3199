import { durableDedupStore } from './delivery-record.ts';
import type { Env } from './env.ts';
import { makeReceiver } from './receiver.ts';

export { DeliveryRecord } from './delivery-record.ts';

export default {
  async fetch(request, env): Promise<Response> {
    if (new URL(request.url).pathname !== '/webhooks') return new Response(null, { status: 404 });
    const receive = makeReceiver(env.WEBHOOK_SECRET, durableDedupStore(env.DELIVERIES));
    return receive(request);
  },
} satisfies ExportedHandler<Env>;
