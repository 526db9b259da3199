import { createServer } from 'node:http';
import { memoryDedupStore } from '@svc/webhook-verify/dedup/memory';
import { receiver } from '@svc/webhook-verify/node';

// The secret in the response to the registration.
const secret = process.env.WEBHOOK_SECRET ?? '';
const port = Number(process.env.PORT ?? 8788);

const handle = receiver({
  secret,
  dedup: memoryDedupStore(),
  onDelivery({ eventType, runId, event }) {
    const age = Date.now() - Date.parse(event.timestamp);
    console.log(`✓ ${eventType.padEnd(16)} ${runId} #${event.sequence}  verified, ${age} ms after it happened`);
  },
  onRejected: ({ code, message }) => console.log(`✗ ${code}: ${message}`),
});

createServer(handle).listen(port, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${port}`));
