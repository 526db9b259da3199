import { HostError } from '../errors.ts';
import { type MountRoute, mountRoute } from '../http/route.ts';
import { eventCatalogue, eventTypeDetail } from '../wire/event-catalogue.ts';
import { ok } from './owned-webhook.ts';

/**
 * The routes under `/host/<org>/event-types`: the event types that a subscription can name, and one of them with its
 * schema and an example.
 */
export function eventTypeRoutes(operationalEvents: readonly string[]): MountRoute[] {
  const scope = 'webhooks:manage';
  const list = { eventTypes: [...eventCatalogue(operationalEvents)] };
  return [
    mountRoute({ method: 'GET', path: '/event-types', scope, serve: async () => ok(list) }),
    mountRoute({
      method: 'GET',
      path: '/event-types/{type}',
      scope,
      async serve({ params }) {
        const detail = eventTypeDetail(params.type ?? '', operationalEvents);
        if (detail !== undefined) return ok(detail);
        throw new HostError('not_found', 'There is no such event type.', { details: undefined });
      },
    }),
  ];
}
