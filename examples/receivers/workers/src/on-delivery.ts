import type { Delivery } from '@svc/webhook-verify';

/**
 * Acts on an event. The host gets 200 when this resolves. When it rejects, the host sends the event again, so the work
 * must be safe to repeat.
 */
export async function onDelivery({ event }: Delivery): Promise<void> {
  switch (event.type) {
    case 'run.completed':
      console.log(`${event.runId} completed: ${JSON.stringify(event.payload.outputs ?? {})}`);
      break;
    case 'run.failed':
      console.log(`${event.runId} failed: ${event.payload.error.code}`);
      break;
    default:
      console.log(`${event.runId} reports ${event.type}`);
  }
}
