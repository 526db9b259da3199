import { DISCOVERY_PATH, MANIFEST, type Major, type Operation, type Served } from '@svc/versioning';
import type { AuthenticationFacts } from '../discovery/authentication.ts';
import { type AnswerDescription, type ErrorCode, inMajor, type Parameters } from '../http/description.ts';
import type { Route } from '../http/route.ts';
import type { JsonObject } from '../json.ts';
import { ERROR_STATUS, errorSchema, errorsOf } from './errors.ts';
import { HEADERS, type HeaderName } from './headers.ts';
import { pathParameters } from './parameters.ts';
import { type Schemas, schemas } from './schemas.ts';
import { TAGS } from './tags.ts';

/** What an API description is made of. */
export interface DescribedHost {
  readonly routes: readonly Route[];
  readonly served: Served;
  /** Where clients reach the host; without it the description names the origin that it was read from. */
  readonly baseUrl: string | undefined;
  readonly implementation: { readonly name: string };
  readonly authentication: AuthenticationFacts;
  /** Whether requests are limited by credential. */
  readonly limitsRate: boolean;
  /** Whether major 1 is announced to end. */
  readonly retires: boolean;
}

/**
 * The OpenAPI 3.1 description of what a host serves under a major. A client of major 2 that follows it reaches major 2 whatever
 * the host prefers.
 *
 * @throws {TypeError} when two different schemas have one name
 * @see Interface: Version axes, 14
 */
export function apiDescription(major: Major, host: DescribedHost): JsonObject {
  const { served, routes, implementation, baseUrl } = host;
  const collected = schemas();
  const byId = new Map(routes.map((route) => [route.operationId, route]));
  const operations = MANIFEST.flatMap((operation) => {
    const route = byId.get(operation.operationId);
    if (route === undefined || !operation.majors.includes(major)) return [];
    return [{ operation, route, described: describe(operation, route, major, host, collected) }];
  });
  const tags = new Set(operations.map(({ route }) => route.describes.tag));
  return {
    openapi: '3.1.1',
    info: {
      title: `${implementation.name}, major ${major}`,
      version: `${served.contractOf(major)}.0`,
      description: INTRODUCTION[major],
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl?.replace(/\/$/, '') ?? '/' }],
    tags: Object.entries(TAGS)
      .filter(([name]) => [...tags].some((tag) => tag === name))
      .map(([name, description]) => ({ name, description })),
    paths: pathsOf(major, operations),
    components: {
      securitySchemes: securitySchemes(host),
      parameters: { 'SVC-Version': versionParameter(major, host), ...clientVersion(host) },
      headers: headersOf(major, host),
      schemas: collected.components(),
    },
  };
}

interface Described {
  readonly operation: Operation;
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

function describe(
  { operationId, path }: Operation,
  route: Route,
  major: Major,
  host: DescribedHost,
  collected: Schemas,
): JsonObject {
  const { tag, summary, description, query = {}, headers = {}, answers, example } = route.describes;
  const own = inMajor(answers, major);
  const conditional = '304' in own;
  const body = route.schema?.[major];
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: route.access === 'public' ? [] : securityOf(host, route.access.scope),
    parameters: [
      { $ref: '#/components/parameters/SVC-Version' },
      ...(host.served.minClientVersion === undefined ? [] : [{ $ref: '#/components/parameters/SVC-Client-Version' }]),
      ...parametersOf('path', only(pathParameters(major), namesIn(path)), collected),
      ...parametersOf('query', inMajor(query, major), collected),
      ...parametersOf('header', inMajor(headers, major), collected),
      ...(conditional ? [IF_NONE_MATCH] : []),
    ],
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: collected.of(body),
            ...(example !== undefined && { example: inMajor(example, major) }),
          },
        },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(own).map(([status, answer]) => [status, responseOf(answer, route, major, host, collected)]),
      ),
      ...errorResponses(route, major, host, collected),
    },
  };
}

function namesIn(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

function only(parameters: Parameters, names: readonly string[]): Parameters {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => names.includes(name)));
}

function parametersOf(place: 'path' | 'query' | 'header', parameters: Parameters, collected: Schemas): JsonObject[] {
  return Object.entries(parameters).map(([name, schema]) => {
    const { description, ...constraints } = collected.of(schema);
    return {
      name,
      in: place,
      ...(description !== undefined && { description }),
      ...(!schema.safeParse(undefined).success && { required: true }),
      schema: constraints,
    };
  });
}

const IF_NONE_MATCH: JsonObject = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of the representation that the caller has: while it is current, the answer is 304.',
  schema: { type: 'string' },
};

function responseOf(
  { description, headers, content }: AnswerDescription,
  route: Route,
  major: Major,
  host: DescribedHost,
  collected: Schemas,
): JsonObject {
  const media = Object.entries(content).map(([type, schema]) => [type, { schema: collected.of(schema[major]) }]);
  return {
    description,
    headers: references([...everyHeader(route, major, host), ...headers]),
    ...(media.length > 0 && { content: Object.fromEntries(media) }),
  };
}

/** One response for each status, with every code that it can carry. */
function errorResponses(route: Route, major: Major, host: DescribedHost, collected: Schemas): JsonObject {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(route, major, host.served)) {
    const status = ERROR_STATUS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const responses = [...byStatus].map(([status, codes]) => {
    const found = codes.map((code) => collected.of(errorSchema(code, major)));
    const [first = {}, ...others] = found;
    return [
      status,
      {
        description: codes.map((code) => `\`${code}\``).join(', '),
        headers: references([...everyHeader(route, major, host), ...(HEADERS_OF[status] ?? [])]),
        content: { 'application/json': { schema: others.length === 0 ? first : { oneOf: found } } },
      },
    ];
  });
  return Object.fromEntries(responses);
}

const HEADERS_OF: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  409: ['Retry-After'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

function everyHeader(route: Route, major: Major, { limitsRate, retires }: DescribedHost): readonly HeaderName[] {
  return [
    'SVC-Version',
    ...(limitsRate && route.access !== 'public' ? RATE_LIMIT : []),
    ...(retires && major === 1 ? RETIREMENT : []),
  ];
}

const RATE_LIMIT = ['RateLimit', 'RateLimit-Policy'] as const;
const RETIREMENT = ['Deprecation', 'Sunset', 'Link'] as const;

function references(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Only what is referred to: a component that nobody uses is a mistake to those who check. */
function headersOf(major: Major, { limitsRate, retires, routes }: DescribedHost): JsonObject {
  const answers = routes.flatMap(({ describes }) => Object.values(inMajor(describes.answers, major)));
  const used = new Set<string>(['SVC-Version', 'Retry-After', ...answers.flatMap(({ headers }) => headers)]);
  if (routes.some(({ access }) => access !== 'public')) used.add('WWW-Authenticate');
  if (limitsRate) for (const name of RATE_LIMIT) used.add(name);
  if (retires && major === 1) for (const name of RETIREMENT) used.add(name);
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

function securityOf({ authentication: { dpop } }: DescribedHost, scope: string): JsonObject[] {
  return [{ bearer: [scope] }, ...(dpop === undefined ? [] : [{ dpop: [scope] }])];
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
