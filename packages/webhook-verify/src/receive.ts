import { type DedupStore, dedupKey } from './dedup/dedup.ts';
import {
  type Delivery,
  type HeaderSource,
  Webhook,
  type WebhookOptions,
  type WebhookVerificationError,
} from './index.ts';

export { type Claim, type DedupOptions, type DedupStore, dedupKey } from './dedup/dedup.ts';

export interface ReceiveOptions extends WebhookOptions {
  /** The subscription's secret; several while a rotation overlaps. */
  readonly secret?: string | readonly string[] | undefined;
  /** Verifies instead of `secret`: `standardVerifier(…)` for Standard Webhooks. One of the two is needed. */
  readonly verifier?: Verifier;
  /** Does the work. The sender gets its 200 once this has resolved; a rejection makes it try again. */
  readonly onDelivery: (delivery: Delivery) => void | Promise<void>;
  /** Where handled deliveries are remembered. Without one, a repeated delivery runs the handler again. */
  readonly dedup?: DedupStore;
  /** Told why a delivery was not accepted; what it throws is ignored. The sender is told nothing but the status. */
  readonly onRejected?: (error: WebhookVerificationError) => void;
  /** Told what the handler or the dedup store threw; what it throws itself is ignored. */
  readonly onFailed?: (error: unknown, delivery: Delivery) => void;
}

/** What decides whether a request is authentic and fresh. A {@link Webhook} is one. */
export interface Verifier {
  safeVerify(body: Uint8Array | string, headers: HeaderSource): ReceivedVerification;
}

export type ReceivedVerification =
  | { readonly ok: true; readonly delivery: Delivery }
  /** The sender asks whether this endpoint wants its deliveries; the answer repeats the challenge. */
  | { readonly ok: true; readonly challenge: string }
  | { readonly ok: false; readonly error: WebhookVerificationError };

/** What to answer. A body is JSON; without one the answer is empty, since a sender acts on the status alone. */
export interface ReceiveAnswer {
  readonly status: 200 | 400 | 401 | 409 | 500;
  readonly body?: string;
}

export type Receive = (body: Uint8Array | string, headers: HeaderSource) => Promise<ReceiveAnswer>;

/**
 * The receiver without a framework: verify, deduplicate, handle, and say what to answer.
 *
 * | delivery | status |
 * |---|---|
 * | handled now or before | 200 |
 * | not authentic or fresh | 401, or 400 when it is malformed |
 * | the same event is being handled | 409, so that the sender tries again |
 * | the handler failed | 500, so that the sender tries again |
 *
 * @throws {TypeError} for options that are wrong
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
    // The work is done. A store that fails now must not make the sender ask for it again.
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

/** What an observer throws must not change the answer, nor end a process that a sender could make it throw in. */
function notify(observer: () => void): void {
  try {
    observer();
  } catch {}
}
