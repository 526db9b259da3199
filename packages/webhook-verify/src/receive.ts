import { requireKnown } from './known-options.ts';
import { RECEIVE_OPTIONS, type Receive, type ReceiveOptions, receiverOf } from './receiver.ts';

export { type Claim, type DedupOptions, type DedupStore, dedupKey, type ProlongingDedupStore } from './dedup/dedup.ts';
export type { Receive, ReceiveAnswer, ReceiveOptions } from './receiver.ts';
export type { ReceivedVerification, Secret, Verifier } from './verifier.ts';

/**
 * Makes a receiver without a framework: it verifies, deduplicates and handles a delivery, and returns the answer.
 *
 * | delivery | status |
 * |---|---|
 * | handled now or before | 200 |
 * | not authentic or fresh | 401, or 400 when it is malformed |
 * | the same event is being handled | 409 with `Retry-After`, so that the sender tries again |
 * | the handler failed, or there is no secret | 500, so that the sender tries again |
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
export function receive<Source extends readonly unknown[] = []>(options: ReceiveOptions<Source>): Receive<Source> {
  requireKnown('receive', options, RECEIVE_OPTIONS);
  return receiverOf(options);
}
