// Runs in Node, Bun, Deno and workerd, with the build of the package that the runtime selects.
import { createHmac } from 'node:crypto';
import { Webhook } from '@svc/webhook-verify';
import { bodyOf, headersOf, SECRET } from './delivery.mjs';

/** Returns functions that do the work once: the runtime's own HMAC, and a verification. */
export function loops(size) {
  const webhook = new Webhook(SECRET, { toleranceSeconds: 86_400 });
  const body = new Uint8Array(bodyOf(size));
  const headers = headersOf(body);
  const prefix = `${headers['svc-timestamp']}.`;
  return {
    'own HMAC': () => createHmac('sha256', SECRET).update(prefix).update(body).digest('hex'),
    verifySignature: () => webhook.verifySignature(body, headers),
  };
}

export function repeat(work, count) {
  for (let index = 0; index < count; index += 1) work();
}
