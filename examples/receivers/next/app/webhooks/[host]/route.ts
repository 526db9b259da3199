import { receiver } from '@svc/webhook-verify/fetch';
import { dedup } from '../../../src/dedup.ts';
import { onDelivery } from '../../../src/on-delivery.ts';

// One receiver for each host that sends to /webhooks/<host>.
const receivers = new Map([
  [
    'main',
    receiver({
      // A function, because Next.js loads this module while it builds, when the variables of the server are absent.
      secret: () => process.env.WEBHOOK_SECRET,
      dedup,
      onDelivery,
      onRejected: ({ code, message }) => console.warn(`refused: ${code}. ${message}`),
    }),
  ],
]);

export async function POST(request: Request, { params }: RouteContext<'/webhooks/[host]'>): Promise<Response> {
  const { host } = await params;
  return receivers.get(host)?.(request) ?? new Response(null, { status: 404 });
}
