import type { HeaderFamily } from '../index.ts';
import { signDelivery } from '../index.ts';

export interface TestDeliveryOptions {
  readonly secret: string;
  /** Default `run.completed`. */
  readonly type?: string;
  /** Default `{}`. */
  readonly payload?: unknown;
  readonly webhookId?: string;
  readonly runId?: string;
  readonly sequence?: number;
  readonly workspaceId?: string;
  /** Milliseconds since the epoch at signing. Default `Date.now`. */
  readonly now?: () => number;
  /** Which header families to send. Default both. */
  readonly families?: readonly HeaderFamily[];
}

export interface TestDelivery {
  readonly method: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * A delivery as a host would send it, for a subscriber's own tests. It can be passed to `fetch` as it is.
 *
 * @example
 * const answer = await handler(new Request('http://localhost/webhooks', testDelivery({ secret, type: 'run.failed', payload })));
 */
export function testDelivery(options: TestDeliveryOptions): TestDelivery {
  const {
    secret,
    type = 'run.completed',
    payload = {},
    webhookId = 'whk_00000000000000000001',
    runId = 'run_00000000000000000001',
    sequence = 1,
    workspaceId,
    now = Date.now,
    families = ['SVC', 'X-svc'],
  } = options;
  const at = now();
  const event = {
    eventId: `evt_${String(sequence).padStart(20, '0')}`,
    type,
    runId,
    sequence,
    timestamp: new Date(at).toISOString(),
    schemaVersion: 1,
    payload,
  };
  const body = JSON.stringify({ runId, workspaceId, event });
  const timestamp = Math.floor(at / 1000);
  const headers = signDelivery({ body, secret, webhookId, eventType: type, timestamp, families });
  return { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
}
