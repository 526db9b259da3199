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
 * The OpenAPI 3.1 description of what a host serves under a major. A client of major 2 that follows it reaches major 2 whatever
 * the host prefers.
 *
 * @throws {TypeError} when two different schemas have one name
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

/** What a subscription is posted. @see Interface: Webhook delivery body */
function deliveryOf(major: Major, { deliveries, routes }: DescribedHost, collected: Schemas): JsonObject {
  const body = deliveries[major];
  if (body === undefined || !routes.some(({ operationId }) => operationId === 'registerWebhook')) return {};
  const post = {
    operationId: 'deliverEvent',
    summary: 'Take an event of a run',
    description:
      'Posted to the URL of each subscription that hears of the event, signed as the headers of the delivery say. Any 2xx takes it.',
    tags: ['Webhooks'],
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema: collected.of(body) } } },
    responses: {
      '2XX': { description: 'The event is taken.' },
      '4XX': {
        description: 'The event is not taken: it is posted again as the retry policy says, and after a 410 never.',
      },
    },
  };
  return { webhooks: { deliverEvent: { post } } };
}

/** Only what is referred to: a component that nobody uses is a mistake to those who check. */
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
        'An API key, or a token of an issuer that discovery names. The scopes that an operation needs stand beside it.',
    },
    ...(dpop !== undefined && {
      dpop: {
        type: 'http',
        scheme: 'DPoP',
        description: 'A token that is bound to a key, with a proof of it (RFC 9449).',
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
  1: 'The major, or a version of it. Paths under `/v1` are major 1 without it.',
  2: 'The major, or a version of it. Without it, a host that serves both majors answers as major 1.',
};

function clientVersion({ served }: DescribedHost): JsonObject {
  if (served.minClientVersion === undefined) return {};
  return {
    'SVC-Client-Version': {
      name: 'SVC-Client-Version',
      in: 'header',
      description: `The version of the client. One below ${served.minClientVersion} is refused.`,
      schema: { type: 'string' },
    },
  };
}

const INTRODUCTION: Readonly<Record<Major, string>> = {
  1: 'Major 1 of the interface, under `/v1`. Bodies may gain members: ignore those that you do not know.',
  2: 'Major 2 of the interface, on unversioned paths. Ids in bodies are bound to their tenant: `<tenant>/<id>`.',
};
