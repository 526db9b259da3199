import { DISCOVERY_PATH, MANIFEST, type Major, type Operation } from '@svc/versioning';
import type { Route } from '../http/route.ts';
import type { JsonObject } from '../json.ts';
import type { DescribedHost, DescribedProtocol } from './described-host.ts';
import { headersOf } from './headers.ts';
import { operationObject } from './operation.ts';
import { type Schemas, schemas } from './schemas.ts';
import { securitySchemes } from './security.ts';
import { TAGS } from './tags.ts';

/**
 * Builds the OpenAPI 3.1 description of the operations that a host serves under a major.
 *
 * @throws {TypeError} when two different schemas have the same name
 * @see Interface: Version axes, 14
 */
export function apiDescription(major: Major, host: DescribedProtocol): JsonObject {
  const { routes, implementation, version, baseUrl } = host;
  const collected = schemas();
  const byId = new Map(routes.map((route) => [route.operationId, route]));
  const operations = MANIFEST.flatMap((operation) => {
    const route = byId.get(operation.operationId);
    if (route === undefined || !operation.majors.includes(major)) return [];
    const named = { ...operation, isProtocol: true };
    return [{ operation, route, described: operationObject({ operation: named, route, major, host, collected }) }];
  });
  const paths = pathsOf(major, operations);
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
    paths,
    ...deliveryOf(major, host, collected),
    components: {
      securitySchemes: securitySchemes(host),
      parameters: { 'SVC-Version': versionParameter(major, host), ...clientVersion(host) },
      headers: headersOf(paths),
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
function deliveryOf(major: Major, { deliveries, routes }: DescribedProtocol, collected: Schemas): JsonObject {
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

/**
 * Describes the header that selects a major. It is optional even where a request of the major needs it: a client sends
 * it as a header of every request, and generated clients demand a required parameter anew at each call.
 */
function versionParameter(major: Major, { served }: DescribedHost): JsonObject {
  const contract = served.contractOf(major);
  return {
    name: 'SVC-Version',
    in: 'header',
    description: SELECTS[major] + (major === served.preferredMajor ? '' : NEEDED[major]),
    schema: {
      type: 'string',
      enum: VALUES[major](contract),
      ...(major === served.preferredMajor && { default: String(major) }),
    },
  };
}

const VALUES: Readonly<Record<Major, (contract: string) => string[]>> = {
  1: () => ['1'],
  2: (contract) => ['2', contract],
};

const SELECTS: Readonly<Record<Major, string>> = {
  1: 'Selects major 1. Paths under `/v1` do not need the header, and accept no other value than `1`.',
  2: 'Selects major 2.',
};

const NEEDED: Readonly<Record<Major, string>> = {
  1: '',
  2: ' Send it with every request, as a default header of the client: without it this host answers in major 1.',
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
