import { invalid } from '../errors.ts';
import { type Route, route } from '../http/route.ts';
import { managed, type OperateOptions } from '../webhooks/operate.ts';
import { cursorText, deadLetterBody, parseCursor } from '../wire/dead-letter.ts';
import { type AddressedOptions, addressedSubscription } from './subscription-address.ts';

export type DeadLetterRoutesOptions = AddressedOptions & Pick<OperateOptions, 'store'>;

/** @see Interface: Events, Webhook delivery of events, 3 */
export function deadLetterRoutes(options: DeadLetterRoutesOptions): Route[] {
  const { store } = options;
  return [
    route({
      operationId: 'listDeadLetters',
      scope: 'webhooks:manage',
      async serve(call) {
        const { webhookId, principal } = addressedSubscription(options, call);
        const subscription = await managed(store, principal, webhookId);
        const limit = limitIn(call.query);
        const before = cursorIn(call.query, webhookId);
        // One more than is shown tells whether there is another page.
        const letters = await store.deliveries.deadLetters(webhookId, { before, limit: limit + 1 });
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

/** Clamped, not refused: a page that is too long is a shorter one. */
function limitIn(query: URLSearchParams): number {
  const text = query.get('limit');
  if (text === null) return DEFAULT_PAGE;
  if (!/^[0-9]{1,9}$/.test(text)) throw invalid({ field: 'query.limit', problem: 'must be a whole number' });
  return Math.min(Math.max(Number(text), 1), MAX_PAGE);
}

const DEFAULT_PAGE = 50;
const MAX_PAGE = 200;

function cursorIn(query: URLSearchParams, webhookId: string) {
  const text = query.get('cursor');
  if (text === null) return undefined;
  const cursor = parseCursor(text, webhookId);
  if (cursor === undefined)
    throw invalid({ field: 'query.cursor', problem: 'must be the nextCursor of this subscription' });
  return cursor;
}
