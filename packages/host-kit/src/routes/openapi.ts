import type { Major } from '@svc/versioning';
import { z } from 'zod';
import { empty, json } from '../http/description.ts';
import { documentReply, type Representation, representation } from '../http/representation.ts';
import { publicRoute, type Reply, type Route } from '../http/route.ts';
import type { JsonObject } from '../json.ts';
import type { DescribedHost, DescribedProtocol } from '../openapi/described-host.ts';
import { apiDescription } from '../openapi/document.ts';
import { type DescribedMount, mountsDescription, requireUniqueIds } from '../openapi/mounts.ts';

/**
 * Defines the route of the API description of `host.routes` and of itself. It is made at the first request for a major.
 */
export function openApiRoute(host: DescribedProtocol): Route {
  const route = publicRoute({
    operationId: 'openapi',
    describes: {
      tag: 'Discovery',
      summary: 'Read the API description',
      description:
        'The operations of one major: under `/v1` of major 1, otherwise of the major that `SVC-Version` selects. ' +
        '`/host/<org>/openapi.json` describes the operations beside the protocol.',
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

/**
 * The API descriptions of the mounts by their paths: `/host/<org>/openapi.json`, and that of each mount that is described
 * apart. Each is made at its first request.
 *
 * @throws {TypeError} when two routes of the mounts have the same `operationId`
 */
export function mountsDocument(
  prefix: string,
  mounts: readonly DescribedMount[],
  host: DescribedHost,
): ReadonlyMap<string, () => Promise<Reply>> {
  const together = mounts.filter(({ describedApart }) => describedApart === undefined);
  requireUniqueIds(together);
  return new Map([
    [`${prefix}/openapi.json`, madeOnce(() => mountsDescription(prefix, together, host))],
    ...mounts.flatMap(({ describedApart: apart, ...mount }) => {
      if (apart === undefined) return [];
      // A token of another credential than those of the host is bound to no key.
      const own = { ...host, acceptsDpop: false };
      return [[prefix + apart.path, madeOnce(() => mountsDescription(prefix, [mount], own, apart))] as const];
    }),
  ]);
}

function madeOnce(describe: () => JsonObject): () => Promise<Reply> {
  let made: Uint8Array | undefined;
  return async () => {
    made ??= representation(describe()).bytes;
    return { status: 200, headers: { 'cache-control': 'public, max-age=300' }, body: made };
  };
}

const HEADERS = ['ETag', 'Cache-Control', 'Vary'] as const;

const DOCUMENT = z.looseObject({ openapi: z.literal('3.1.1'), info: z.looseObject({}), paths: z.looseObject({}) });
