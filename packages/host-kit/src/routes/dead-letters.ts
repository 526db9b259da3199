import { z } from 'zod';
import type { ChangeServices } from '../audit/change-services.ts';
import { invalid } from '../errors.ts';
import { json } from '../http/description.ts';
import { type Route, route } from '../http/route.ts';
import { DEAD_LETTERS_PER_PAGE } from '../ports/deliveries.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import { managed } from '../webhooks/operator-actions.ts';
import { cursorText, deadLetterBody, deadLetterPage, parseCursor } from '../wire/dead-letter.ts';
import { ADDRESS_ERRORS, type AddressedOptions, addressedSubscription, addressQuery } from './subscription-address.ts';

/** The ports of {@link deadLetterRoutes}. */
export interface DeadLetterRoutesOptions extends AddressedOptions, Pick<ChangeServices, 'store'> {
  /** Dead letters expire by it. */
  readonly storeClock: Pick<StoreClock, 'now'>;
}

/** Defines the route that lists dead letters. @see Interface: Events, Webhook delivery of events, 3 */
export function deadLetterRoutes(options: DeadLetterRoutesOptions): Route[] {
  const { store, storeClock } = options;
  return [
    route({
      operationId: 'listDeadLetters',
      scope: 'webhooks:manage',
      describes: {
        tag: 'Webhooks',
        summary: 'List dead letters',
        description: 'Deliveries that failed permanently, newest first. Payloads and secrets are not included.',
        query: { 1: { ...addressQuery(options)[1], ...PAGE }, 2: PAGE },
        answers: { 200: json('A page of dead letters.', deadLetterPage, { headers: ['Cache-Control'] }) },
        errors: ADDRESS_ERRORS,
      },
      async serve(call) {
        const { webhookId, principal } = addressedSubscription(options, call);
        const subscription = await managed(store, principal, webhookId);
        const limit = limitIn(call.query);
        const before = cursorIn(call.query, webhookId);
        // One more letter than the page holds shows that there is another page.
        const query = { before, limit: limit + 1, now: storeClock.now() };
        const letters = await store.deliveries.deadLetters(webhookId, query);
        const page = letters.slice(0, limit);
        const last = page.at(-1);
        return {
          status: 200,
          headers: { 'cache-control': 'private, no-store' },
          body: {
            deliveries: page.map((letter) => deadLetterBody[call.major](letter, subscription)),
            ...(letters.length > limit && last !== undefined && { nextCursor: cursorText(webhookId, last) }),
          },
        };
      },
    }),
  ];
}

/** A limit out of range is clamped, not rejected. */
function limitIn(query: URLSearchParams): number {
  const text = query.get('limit');
  if (text === null) return DEFAULT_PAGE;
  if (!/^[0-9]{1,9}$/.test(text)) throw invalid({ field: 'query.limit', problem: 'must be a whole number' });
  return Math.min(Math.max(Number(text), 1), DEAD_LETTERS_PER_PAGE);
}

const DEFAULT_PAGE = 50;

const PAGE = {
  limit: z
    .int()
    .min(0)
    .default(DEFAULT_PAGE)
    .describe(
      `The maximum number of dead letters. A value above ${DEAD_LETTERS_PER_PAGE} means ${DEAD_LETTERS_PER_PAGE}.`,
    ),
  cursor: z
    .string()
    .min(1)
    .max(2048)
    .optional()
    .describe('The `nextCursor` of the previous page of the same subscription.'),
};

function cursorIn(query: URLSearchParams, webhookId: string) {
  const text = query.get('cursor');
  if (text === null) return undefined;
  const cursor = parseCursor(text, webhookId);
  if (cursor === undefined)
    throw invalid({ field: 'query.cursor', problem: 'must be the nextCursor of a page of this subscription' });
  return cursor;
}
