import type { HeaderFamily } from '../headers.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { signDelivery } from '../sign.ts';

/** The options of {@link testDelivery} and {@link invalidDeliveries}. */
export interface TestDeliveryOptions {
  /** The secret that signs. */
  readonly secret: string;
  /** The type of the event. Default `run.completed`. */
  readonly type?: string;
  /** The payload of the event. Default `{}`. */
  readonly payload?: unknown;
  /** The id of the subscription. Default `whk_00000000000000000001`. */
  readonly webhookId?: string;
  /** The id of the run. Default `run_00000000000000000001`. */
  readonly runId?: string;
  /**
   * The position of the event in the log of the run, of which its id is made. A receiver with deduplication takes two
   * deliveries of one run and sequence for the same event. Default 1.
   */
  readonly sequence?: number;
  /** The workspace of the run. Default: none. */
  readonly workspaceId?: string;
  /** The clock at signing, in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /** The header families to send. Default both. */
  readonly families?: readonly HeaderFamily[];
}

const TEST_DELIVERY_OPTIONS: OptionNames<TestDeliveryOptions> = {
  secret: true,
  type: true,
  payload: true,
  webhookId: true,
  runId: true,
  sequence: true,
  workspaceId: true,
  now: true,
  families: true,
};

/** A delivery that `fetch` or `new Request` accepts as its init. */
export interface TestDelivery {
  /** The method of the request. */
  readonly method: 'POST';
  /** The content type and the signature headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The signed body. */
  readonly body: string;
}

/**
 * Makes a delivery as a host would send it, for the tests of a subscriber.
 *
 * @throws {TypeError} when the secret is invalid or `families` is empty
 * @example
 * import { testDelivery } from '@svc/webhook-verify/testing';
 *
 * const payload = { error: { code: 'c', message: 'm' } };
 * const delivery = testDelivery({ secret: 'a secret', type: 'run.failed', payload });
 * const answer = await fetch('http://localhost:8788/', delivery);
 */
export function testDelivery(options: TestDeliveryOptions): TestDelivery {
  requireKnown('testDelivery', options, TEST_DELIVERY_OPTIONS);
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
