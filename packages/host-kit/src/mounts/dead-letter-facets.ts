import { z } from 'zod';
import { invalid } from '../errors.ts';
import { json } from '../http/description.ts';
import { type MountRoute, mountRoute } from '../http/route.ts';
import type { Store } from '../ports/store.ts';
import { deadLetterFacets as facetsOf } from '../webhooks/dead-letter-facets.ts';
import { managed } from '../webhooks/operator-actions.ts';
import type { LetterFilter, LetterReading } from '../webhooks/redrive-matching.ts';
import { deadLetterFacets, facetsView, tenantDeadLetterFacets } from '../wire/dead-letter-facets.ts';
import { ADDRESS_ERRORS, ADDRESSED, idIn, ok, PRIVATE, QUERY_TIME, STEP, stepIn, timeIn } from './owned-webhook.ts';

export interface DeadLetterFacetOptions extends LetterReading {
  readonly store: Store;
}

/**
 * The routes `/host/<org>/webhooks/dead-letters/facets` and `/host/<org>/webhooks/{webhookId}/dead-letters/facets`: the
 * dead letters by event type, status and time, of all subscriptions that the caller manages and of one.
 */
export function deadLetterFacetRoutes(options: DeadLetterFacetOptions): MountRoute[] {
  const { store } = options;
  const scope = 'webhooks:manage';
  return [
    mountRoute({
      method: 'GET',
      path: '/webhooks/dead-letters/facets',
      scope,
      describes: {
        operationId: 'countTenantDeadLetters',
        summary: 'Count the dead letters of all subscriptions',
        description: `By event type, status, subscription and time, of the first 1000 subscriptions by id. ${BOUNDS}`,
        query: FILTER,
        answers: { 200: json('The counts.', tenantDeadLetterFacets, PRIVATE) },
      },
      async serve({ principal, query }) {
        const { filter, stepMs } = filterIn(query);
        const page = { after: '', limit: MAX_SUBSCRIPTIONS + 1 };
        const found = await store.subscriptions.list(principal.tenancy, page);
        const webhookIds = found.slice(0, MAX_SUBSCRIPTIONS).map(({ webhookId }) => webhookId);
        const facets = await facetsOf(options, webhookIds, filter, stepMs);
        return ok({
          ...facetsView(facets, stepMs),
          isComplete: facets.isComplete && found.length <= MAX_SUBSCRIPTIONS,
          subscriptions: facets.subscriptions.map(({ value, count }) => ({ webhookId: value, count })),
        });
      },
    }),
    mountRoute({
      method: 'GET',
      path: '/webhooks/{webhookId}/dead-letters/facets',
      scope,
      describes: {
        operationId: 'countDeadLetters',
        summary: 'Count the dead letters of a subscription',
        description: `By event type, status and time. ${BOUNDS}`,
        path: ADDRESSED,
        query: FILTER,
        answers: { 200: json('The counts.', deadLetterFacets, PRIVATE) },
        errors: ADDRESS_ERRORS,
      },
      async serve(call) {
        const { filter, stepMs } = filterIn(call.query);
        const { webhookId } = await managed(store, call.principal, idIn(call));
        return ok(facetsView(await facetsOf(options, [webhookId], filter, stepMs), stepMs));
      },
    }),
  ];
}

const MAX_SUBSCRIPTIONS = 1000;
const DEFAULT_STEP_MS = 3_600_000;
const BOUNDS = 'The newest 100 000 dead letters are counted. The filter is that of `redrive-matching`.';

const FILTER = {
  types: z.string().optional().describe('Names of event types, separated by commas. Default: every type.'),
  statuses: z
    .string()
    .optional()
    .describe('Last HTTP statuses, separated by commas. 0: there was no answer. Default: every status.'),
  since: QUERY_TIME.optional().describe('The earliest time of the event.'),
  until: QUERY_TIME.optional().describe('The time before which the event happened.'),
  step: STEP.default(3600).describe('The length of a step of `times` in seconds, a multiple of 60.'),
};

function filterIn(query: URLSearchParams): { readonly filter: LetterFilter; readonly stepMs: number } {
  const types = listIn(query, 'types', /^[^,\s]{1,128}$/);
  const statuses = listIn(query, 'statuses', /^[0-9]{1,3}$/)?.map(Number);
  const filter = { types, statuses, since: timeIn(query, 'since'), until: timeIn(query, 'until') };
  return { filter, stepMs: stepIn(query) ?? DEFAULT_STEP_MS };
}

/** Reads a list that is separated by commas; undefined when it is absent. */
function listIn(query: URLSearchParams, name: string, form: RegExp): readonly string[] | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const values = text.split(',');
  if (values.length <= 100 && values.every((value) => form.test(value))) return values;
  throw invalid({ field: `query.${name}`, problem: 'must be a list of at most 100 values, separated by commas' });
}
