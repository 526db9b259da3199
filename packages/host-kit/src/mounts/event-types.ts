import { z } from 'zod';
import { HostError } from '../errors.ts';
import { json } from '../http/description.ts';
import { type MountRoute, mountRoute } from '../http/route.ts';
import type { SubscribableEvents } from '../webhooks/subscribable.ts';
import { eventCatalogue, eventType, eventTypeDetail, eventTypes } from '../wire/event-catalogue.ts';
import { ok, PRIVATE } from './owned-webhook.ts';

/**
 * The routes under `/host/<org>/event-types`: the event types that a subscription can name, and one of them with its
 * schema and an example.
 */
export function eventTypeRoutes(operationalEvents: readonly string[], subscribable: SubscribableEvents): MountRoute[] {
  const scope = 'webhooks:manage';
  const list = { eventTypes: [...eventCatalogue(operationalEvents, subscribable)] };
  return [
    mountRoute({
      method: 'GET',
      path: '/event-types',
      scope,
      describes: {
        operationId: 'listEventTypes',
        summary: 'List event types',
        description:
          'Every event type that a subscription can name, those that the engine of this host declares included, in the spelling of both majors.',
        answers: { 200: json('The event types.', eventTypes, PRIVATE) },
      },
      serve: async () => ok(list),
    }),
    mountRoute({
      method: 'GET',
      path: '/event-types/{type}',
      scope,
      describes: {
        operationId: 'readEventType',
        summary: 'Read an event type',
        description: 'An event type with the JSON Schema of its payload in major 2, and an example.',
        path: { type: z.string().min(1).max(128).describe('The name of the type, in the spelling of either major.') },
        answers: { 200: json('The event type.', eventType, PRIVATE) },
        errors: ['not_found'],
      },
      async serve({ params }) {
        const detail = eventTypeDetail(params.type ?? '', operationalEvents, subscribable);
        if (detail !== undefined) return ok(detail);
        throw new HostError('not_found', 'There is no such event type.', { details: undefined });
      },
    }),
  ];
}
