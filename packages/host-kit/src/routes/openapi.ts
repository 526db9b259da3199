import type { Major } from '@svc/versioning';
import { z } from 'zod';
import { empty, json } from '../http/description.ts';
import { documentReply, type Representation, representation } from '../http/representation.ts';
import { publicRoute, type Route } from '../http/route.ts';
import type { DescribedHost } from '../openapi/described-host.ts';
import { apiDescription } from '../openapi/document.ts';

/**
 * Defines the route of the API description of `host.routes` and of itself. It is made at the first request for a major.
 */
export function openApiRoute(host: DescribedHost): Route {
  const route = publicRoute({
    operationId: 'openapi',
    describes: {
      tag: 'Discovery',
      summary: 'Read the API description',
      answers: {
        200: json('This OpenAPI 3.1 document.', DOCUMENT, { headers: HEADERS }),
        304: empty('The document has not changed.', { headers: HEADERS }),
      },
    },
    serve: async (call) => documentReply(published(call.major), call),
  });
  const described = { ...host, routes: [...host.routes, route] };
  const made = new Map<Major, Representation>();
  return route;

  function published(major: Major): Representation {
    const known = made.get(major) ?? representation(apiDescription(major, described));
    made.set(major, known);
    return known;
  }
}

const HEADERS = ['ETag', 'Cache-Control', 'Vary'] as const;

const DOCUMENT = z.looseObject({ openapi: z.literal('3.1.1'), info: z.looseObject({}), paths: z.looseObject({}) });
