import { type DedupStore, dedupKey } from './dedup/dedup.ts';
import {
  type Delivery,
  type HeaderSource,
  Webhook,
  type WebhookOptions,
  type WebhookVerificationError,
} from './index.ts';

export { type Claim, type DedupOptions, type DedupStore, dedupKey } from './dedup/dedup.ts';

/** The options of {@link receive} and of every adapter. */
export interface ReceiveOptions extends WebhookOptions {
  /** The secret of the subscription; several while a rotation overlaps. Either `secret` or `verifier` is required. */
  readonly secret?: string | readonly string[] | undefined;
  /** The verifier that replaces `secret`: `standardVerifier(…)` for Standard Webhooks. */
  readonly verifier?: Verifier;
  /**
   * Handles a delivery. When it resolves, the sender gets 200; when it rejects, the sender gets 500 and tries again.
   */
  readonly onDelivery: (delivery: Delivery) => void | Promise<void>;
  /** The memory of handled deliveries. Without one, a repeated delivery runs the handler again. */
  readonly dedup?: DedupStore;
  /** Observes rejected deliveries. Its own errors are ignored. The sender learns only the status. */
  readonly onRejected?: (error: WebhookVerificationError) => void;
  /** Observes errors of the handler and of the dedup store. Its own errors are ignored. */
  readonly onFailed?: (error: unknown, delivery: Delivery) => void;
}

/** A judge of requests: authentic and fresh, or not. A {@link Webhook} is one. */
export interface Verifier {
  /** Verifies a request, and returns a rejection as a value. */
  safeVerify(body: Uint8Array | string, headers: HeaderSource): ReceivedVerification;
}

/** The result of a {@link Verifier}. */
export type ReceivedVerification =
  /** The delivery is authentic and fresh. */
  | { readonly ok: true; readonly delivery: Delivery }
  /** The sender verifies the endpoint; the answer must repeat the challenge. */
  | { readonly ok: true; readonly challenge: string }
  /** The request was rejected. */
  | { readonly ok: false; readonly error: WebhookVerificationError };

/** The answer to a request. */
export interface ReceiveAnswer {
  /** The status. A sender acts on it alone. */
  readonly status: 200 | 400 | 401 | 409 | 500;
  /** The body as JSON, for a challenge. Default: an empty body. */
  readonly body?: string;
}

/** Handles one request and resolves to its answer. A parsed body is a TypeError. */
export type Receive = (body: Uint8Array | string, headers: HeaderSource) => Promise<ReceiveAnswer>;

/**
 * Makes a receiver without a framework: it verifies, deduplicates and handles a delivery, and returns the answer.
 *
 * | delivery | status |
 * |---|---|
 * | handled now or before | 200 |
 * | not authentic or fresh | 401, or 400 when it is malformed |
 * | the same event is being handled | 409, so that the sender tries again |
 * | the handler failed | 500, so that the sender tries again |
 *
 * @throws {TypeError} when an option is invalid
 * @example
 * import { receive } from '@svc/webhook-verify/receive';
 * import { testDelivery } from '@svc/webhook-verify/testing';
 *
 * const handle = receive({ secret: 'a secret', onDelivery: ({ eventType }) => console.log(eventType) });
 * const { body, headers } = testDelivery({ secret: 'a secret' });
 * console.log((await handle(body, headers)).status); // 200
 */
export function receive(options: ReceiveOptions): Receive {
  const verifier = verifierOf(options);
  if (typeof options.onDelivery !== 'function')
    throw new TypeError('onDelivery: must be a function. Pass the handler of a delivery.');

  return async (body, headers) => {
    const verification = verifier.safeVerify(body, headers);
    if (!verification.ok) {
      notify(() => options.onRejected?.(verification.error));
      return { status: verification.error.status };
    }
    if ('challenge' in verification) {
      return { status: 200, body: JSON.stringify({ challenge: verification.challenge }) };
    }
    return { status: await handle(verification.delivery) };
  };

  async function handle(delivery: Delivery): Promise<200 | 409 | 500> {
    const failed = (error: unknown) => notify(() => options.onFailed?.(error, delivery));
    const { dedup } = options;
    const key = dedupKey(delivery);
    let token = '';
    try {
      const claim = await dedup?.claim(key);
      if (claim?.state === 'handled') return 200;
      if (claim?.state === 'in-flight') return 409;
      token = claim?.token ?? '';
    } catch (error) {
      failed(error);
      return 500;
    }
    try {
      await options.onDelivery(delivery);
    } catch (error) {
      failed(error);
      await settle(() => dedup?.release(key, token), failed);
      return 500;
    }
    // The delivery is handled: a failure of the store must not make the sender try again.
    await settle(() => dedup?.confirm(key, token), failed);
    return 200;
  }
}

function verifierOf({ secret, verifier, ...options }: ReceiveOptions): Verifier {
  if ((secret === undefined) === (verifier === undefined)) {
    throw new TypeError('secret: must be set unless verifier is, and never beside it. Set its environment variable.');
  }
  return verifier ?? new Webhook(secret ?? '', options);
}

async function settle(work: () => void | Promise<void>, failed: (error: unknown) => void): Promise<void> {
  try {
    await work();
  } catch (error) {
    failed(error);
  }
}

/**
 * Ignores the errors of an observer: they must not change the answer, and no sender may end the process through them.
 */
function notify(observer: () => void): void {
  try {
    observer();
  } catch {}
}
