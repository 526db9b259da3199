import type { Major } from '@svc/versioning';
import { DISCOVERY_V1 } from '../discovery/schema-v1.ts';
import { DISCOVERY_V2 } from '../discovery/schema-v2.ts';
import { empty, json } from '../http/description.ts';
import { documentReply, representation } from '../http/representation.ts';
import { publicRoute, type Route } from '../http/route.ts';

/** Defines the route of the discovery document, which is serialized once for each major. */
export function discoveryRoute(documents: Readonly<Record<Major, object>>): Route {
  const published = { 1: representation(documents[1]), 2: representation(documents[2]) };
  return publicRoute({
    operationId: 'discovery',
    describes: {
      tag: 'Discovery',
      summary: 'Read the discovery document',
      description:
        'The document of the major that `SVC-Version` selects, otherwise of the preferred version. No credential is required.',
      answers: {
        200: json(
          'The versions, features and limits of this host.',
          { 1: DISCOVERY_V1, 2: DISCOVERY_V2 },
          { headers: DOCUMENT },
        ),
        304: empty('The document has not changed.', { headers: DOCUMENT }),
      },
    },
    serve: async (call) => documentReply(published[call.major], call),
  });
}

const DOCUMENT = ['ETag', 'Cache-Control', 'Vary'] as const;
