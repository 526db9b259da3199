import { DISCOVERY_PATH, MANIFEST, type Major, type Operation } from '@svc/versioning';
import { inMajor } from '../http/description.ts';
import { takesKey } from '../http/idempotency.ts';
import type { Route } from '../http/route.ts';
import type { JsonObject } from '../json.ts';
import type { DescribedHost } from './described-host.ts';
import { HEADERS, KEYED, RATE_LIMIT, RETIREMENT } from './headers.ts';
import { operationObject } from './operation.ts';
import { type Schemas, schemas } from './schemas.ts';
import { TAGS } from './tags.ts';

/**
 * Builds the OpenAPI 3.1 description of the operations that a host serves under a major. In the description of a major
 * that the host does not prefer, the `SVC-Version` header is required, so a client that follows it reaches that major.
 *
 * @throws {TypeError} when two different schemas have the same name
 * @see Interface: Version axes, 14
 */
export function apiDescription(major: Major, host: DescribedHost): JsonObject {
  const { routes, implementation, version, baseUrl } = host;
  const collected = schemas();
  const byId = new Map(routes.map((route) => [route.operationId, route]));
  const operations = MANIFEST.flatMap((operation) => {
    const route = byId.get(operation.operationId);
    if (route === undefined || !operation.majors.includes(major)) return [];
    return [{ operation, route, described: operationObject({ operation, route, major, host, collected }) }];
  });
  const tags = new Set(operations.map(({ route }) => route.describes.tag));
  return {
    openapi: '3.1.1',
    info: {
      title: `${implementation.name}, major ${major}`,
      version,
      description: INTRODUCTION[major],
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl?.replace(/\/$/, '') ?? '/' }],
    tags: Object.entries(TAGS)
      .filter(([name]) => [...tags].some((tag) => tag === name))
      .map(([name, description]) => ({ name, description })),
    paths: pathsOf(major, operations),
    ...deliveryOf(major, host, collected),
    components: {
      securitySchemes: securitySchemes(host),
      parameters: { 'SVC-Version': versionParameter(major, host), ...clientVersion(host) },
      headers: headersOf(major, host, operations),
      schemas: collected.components(),
    },
  };
}

interface Described {
  readonly operation: Operation;
  readonly route: Route;
  readonly described: JsonObject;
}

function pathsOf(major: Major, operations: readonly Described[]): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const { operation, described } of operations) {
    const path = PREFIX[major](operation.path);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: described };
  }
  return paths;
}

const PREFIX: Readonly<Record<Major, (path: string) => string>> = {
  1: (path) => (path === DISCOVERY_PATH ? path : `/v1${path}`),
  2: (path) => path,
};

/** Describes the request that subscribers receive. @see Interface: Webhook delivery body */
function deliveryOf(major: Major, { deliveries, routes }: DescribedHost, collected: Schemas): JsonObject {
  if (!routes.some(({ operationId }) => operationId === 'registerWebhook')) return {};
  const post = {
    operationId: 'deliverEvent',
    summary: 'Receive an event of a run',
    description:
      'The host posts the event, signed, to the URL of each matching subscription. Answer with any 2xx to accept it.',
    tags: ['Webhooks'],
    security: [],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: collected.adopted('Delivery', deliveries[major]) } },
    },
    responses: {
      '2XX': { description: 'The receiver accepted the event.' },
      '4XX': {
        description:
          'The receiver did not accept the event. The host retries by its retry policy; after a 410 it does not.',
      },
    },
  };
  return { webhooks: { deliverEvent: { post } } };
}

/** Returns the headers that some operation refers to. Linters report unused components. */
function headersOf(major: Major, host: DescribedHost, operations: readonly Described[]): JsonObject {
  const answers = operations.flatMap(({ route }) => Object.values(inMajor(route.describes.answers, major)));
  const used = new Set<string>([
    ...['SVC-Version', 'Vary', 'Retry-After'],
    ...(operations.some(({ route }) => route.schema !== undefined) ? ['Accept-Encoding'] : []),
    ...answers.flatMap(({ headers }) => headers),
    ...(operations.some(({ route }) => route.access !== 'public') ? ['WWW-Authenticate'] : []),
    ...(operations.some(({ operation, route }) => takesKey(operation, route.access)) ? KEYED : []),
    ...(host.limitsRate ? RATE_LIMIT : []),
    ...(host.retires && major === 1 ? RETIREMENT : []),
  ]);
  return Object.fromEntries(Object.entries(HEADERS).filter(([name]) => used.has(name)));
}

function securitySchemes({ authentication: { dpop } }: DescribedHost): JsonObject {
  return {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description:
        'An API key, or an access token of an issuer in the discovery document. Operations list the scopes they need.',
    },
    ...(dpop !== undefined && {
      dpop: {
        type: 'http',
        scheme: 'DPoP',
        description: 'An access token that is bound to a key, with a proof of possession of that key (RFC 9449).',
      },
    }),
  };
}

function versionParameter(major: Major, { served }: DescribedHost): JsonObject {
  return {
    name: 'SVC-Version',
    in: 'header',
    description: SELECTS[major],
    ...(major !== served.preferredMajor && { required: true }),
    schema: { type: 'string', pattern: `^${major}(\\.(0|[1-9][0-9]*))?$`, examples: [String(major)] },
  };
}

const SELECTS: Readonly<Record<Major, string>> = {
  1: 'Major 1 or a version of it, such as `1.1`. Paths under `/v1` do not need the header.',
  2: 'Major 2 or a version of it, such as `2.0`. Without it, a host that serves both majors answers in major 1.',
};

function clientVersion({ served }: DescribedHost): JsonObject {
  if (served.minClientVersion === undefined) return {};
  return {
    'SVC-Client-Version': {
      name: 'SVC-Client-Version',
      in: 'header',
      description: `The client's version. Requests of clients below ${served.minClientVersion} are rejected.`,
      schema: { type: 'string' },
    },
  };
}

const INTRODUCTION: Readonly<Record<Major, string>> = {
  1: 'Major 1 of the interface, under `/v1`. Later versions may add members to bodies: ignore unknown members.',
  2: 'Major 2 of the interface, on unversioned paths. Ids in bodies contain their tenant: `<tenant>/<id>`.',
};
