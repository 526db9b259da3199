import { type After, afterTimeout } from './after-timeout.ts';
import { type Claim, type DedupStore, dedupKey } from './dedup/dedup.ts';
import type { Delivery } from './delivery.ts';
import type { WebhookVerificationError } from './errors.ts';
import { type Failure, failureLog } from './failure-log.ts';
import type { HeaderSource } from './headers.ts';
import type { OptionNames } from './known-options.ts';
import { prolongClaim } from './prolong-claim.ts';
import { missingSecret, type Secret, type Verifier, verifierOf } from './verifier.ts';
import type { WebhookOptions } from './webhook.ts';

/**
 * The options of `receive` and of every adapter. `Source` are the arguments that a function for the secret gets: none
 * from `receive` by default, and the request from an adapter.
 */
export interface ReceiveOptions<Source extends readonly unknown[] = []> extends WebhookOptions {
  /**
   * The secret of the subscription; several while a rotation overlaps. Either `secret` or `verifier` is required.
   *
   * A function is called for each request, before its signature is checked, so its result may change at any time; let it
   * keep the result of a slow look-up. While the secret is undefined or empty, or the function fails, deliveries are
   * answered with 500, and `onFailed` gets the error.
   */
  readonly secret?: Secret | undefined | ((...source: Source) => Secret | undefined | Promise<Secret | undefined>);
  /**
   * The verifier that replaces `secret`: `standardVerifier(…)` for Standard Webhooks. A function is called for each
   * request. When it fails, the request is answered with 500, and `onFailed` gets the error.
   */
  readonly verifier?: Verifier | ((...source: Source) => Verifier | Promise<Verifier>);
  /**
   * Handles a delivery. When it resolves, the sender gets 200; when it rejects, the sender gets 500 and tries again.
   */
  readonly onDelivery: (delivery: Delivery) => void | Promise<void>;
  /** The memory of handled deliveries. Without one, a repeated delivery runs the handler again. */
  readonly dedup?: DedupStore;
  /** Observes rejected deliveries. Its own errors are ignored. The sender learns only the status. */
  readonly onRejected?: (error: WebhookVerificationError) => void;
  /**
   * Observes errors of the handler and of the dedup store, with the delivery, and errors of the secret, without one. Its
   * own errors are ignored. Default: each error is written to standard error (`console.error`) as one line of JSON with
   * its message and its stack, the same one at most once in 10 s. `() => {}` writes nothing.
   */
  readonly onFailed?: (error: unknown, delivery: Delivery | undefined) => void;
  /**
   * Calls a function after so many milliseconds, and returns a function that cancels the call. Claims are prolonged by
   * it while the handler runs. Default: `setTimeout`, which does not keep a Node process alive.
   */
  readonly after?: (ms: number, run: () => void) => () => void;
}

/** The names of {@link ReceiveOptions}. */
export const RECEIVE_OPTIONS: OptionNames<ReceiveOptions> = {
  secret: true,
  verifier: true,
  onDelivery: true,
  dedup: true,
  onRejected: true,
  onFailed: true,
  after: true,
  toleranceSeconds: true,
  now: true,
  webhookId: true,
};

/** The answer to a request. */
export interface ReceiveAnswer {
  /** The status. A sender acts on it alone. */
  readonly status: 200 | 400 | 401 | 409 | 500;
  /** The body as JSON, for a challenge. Default: an empty body. */
  readonly body?: string;
  /**
   * The value of the header `Retry-After` of a 409, in whole seconds from 1 to 60: the time after which the open claim
   * expires unless it is prolonged.
   */
  readonly retryAfterSeconds?: number;
}

/** Handles one request and resolves to its answer. A parsed body is a TypeError. */
export type Receive<Source extends readonly unknown[] = []> = (
  body: Uint8Array | string,
  headers: HeaderSource,
  ...source: Source
) => Promise<ReceiveAnswer>;

/** The surroundings of a receiver. */
export interface ReceiverSurroundings {
  /** Whether the receiver serves requests from now on, so that a missing secret is told at once. Default: false. */
  readonly isServing?: boolean;
  /** The log of a receiver without `onFailed`. Default: {@link failureLog}. */
  readonly log?: (failure: Failure) => void;
}

/**
 * Makes a receiver whose options are checked for unknown names already, as an adapter has more options than this.
 *
 * @throws {TypeError} when an option is invalid
 */
export function receiverOf<Source extends readonly unknown[]>(
  options: ReceiveOptions<Source>,
  { isServing = false, log = failureLog() }: ReceiverSurroundings = {},
): Receive<Source> {
  const verifierFor = verifierOf(options);
  const after: After = options.after ?? afterTimeout;
  if (typeof options.onDelivery !== 'function')
    throw new TypeError('onDelivery: must be a function. Pass the handler of a delivery.');
  const missing = isServing ? missingSecret(options) : undefined;
  if (missing !== undefined) failed({ message: NO_VERIFIER, error: missing });

  return async (body, headers, ...source) => {
    let verifier: Verifier;
    try {
      verifier = await verifierFor(...source);
    } catch (error) {
      failed({ message: NO_VERIFIER, error });
      return { status: 500 };
    }
    const verification = verifier.safeVerify(body, headers);
    if (!verification.ok) {
      notify(() => options.onRejected?.(verification.error));
      return { status: verification.error.status };
    }
    if ('challenge' in verification) {
      return { status: 200, body: JSON.stringify({ challenge: verification.challenge }) };
    }
    return handle(verification.delivery);
  };

  function failed(failure: Failure): void {
    const { onFailed } = options;
    notify(() => (onFailed === undefined ? log(failure) : onFailed(failure.error, failure.delivery)));
  }

  async function handle(delivery: Delivery): Promise<ReceiveAnswer> {
    const { dedup } = options;
    if (dedup === undefined) return { status: (await isHandled(delivery)) ? 200 : 500 };
    const key = dedupKey(delivery);
    let claim: Claim;
    try {
      claim = await dedup.claim(key);
    } catch (error) {
      failed({ message: NOT_CLAIMED, error, delivery });
      return { status: 500 };
    }
    if (claim.state === 'handled') return { status: 200 };
    if (claim.state === 'in-flight') return { status: 409, retryAfterSeconds: retryAfterSeconds(claim.secondsLeft) };
    const { token, claimSeconds } = claim;
    const notProlonged = (error: unknown) => failed({ message: NOT_PROLONGED, error, delivery });
    const stop = prolongClaim({ dedup, key, token, claimSeconds, after, failed: notProlonged });
    const handled = await isHandled(delivery);
    stop();
    // Of a handled delivery, a failure of the store must not make the sender try again.
    if (handled) await settle(() => dedup.confirm(key, token), NOT_CONFIRMED, delivery);
    else await settle(() => dedup.release(key, token), NOT_RELEASED, delivery);
    return { status: handled ? 200 : 500 };
  }

  async function isHandled(delivery: Delivery): Promise<boolean> {
    try {
      await options.onDelivery(delivery);
      return true;
    } catch (error) {
      failed({ message: NOT_HANDLED, error, delivery });
      return false;
    }
  }

  async function settle(work: () => void | Promise<void>, message: string, delivery: Delivery): Promise<void> {
    try {
      await work();
    } catch (error) {
      failed({ message, error, delivery });
    }
  }
}

const NO_VERIFIER =
  'secret: is missing or failed, so deliveries are answered with 500. Set it, or correct its function.';
const NOT_CLAIMED = 'dedup: claim failed, so the delivery was answered with 500. Correct the store.';
const NOT_PROLONGED = 'dedup: prolong failed, so a repeat of the delivery may be handled too. Correct the store.';
const NOT_HANDLED = 'onDelivery: failed, so the delivery was answered with 500. Correct the handler.';
const NOT_RELEASED = 'dedup: release failed, so the delivery is handled again only after its claim. Correct the store.';
const NOT_CONFIRMED = 'dedup: confirm failed, so a repeat of the delivery may be handled again. Correct the store.';

/**
 * Returns the whole seconds that a sender should wait. A sender that comes a little later finds the claim expired, when
 * its process died. The value is from 1 to 60, whatever a store says.
 */
function retryAfterSeconds(secondsLeft = LONGEST_WAIT_SECONDS): number {
  return Math.min(Math.max(Math.ceil(secondsLeft), 1), LONGEST_WAIT_SECONDS) || LONGEST_WAIT_SECONDS;
}

const LONGEST_WAIT_SECONDS = 60;

/**
 * Ignores the errors of an observer: they must not change the answer, and no sender may end the process through them.
 */
function notify(observer: () => void): void {
  try {
    const told: unknown = observer();
    // An async function fits the type, too. Unhandled, its rejection would end the process.
    if (told instanceof Promise) told.catch(() => {});
  } catch {}
}
