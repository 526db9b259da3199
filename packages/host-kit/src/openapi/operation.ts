import type { Major } from '@svc/versioning';
import { z } from 'zod';
import { scopesOf, takesCredential } from '../http/access.ts';
import { type AnswerDescription, type ByMajor, type ErrorCode, inMajor, type Parameters } from '../http/description.ts';
import { takesKey } from '../http/idempotency.ts';
import type { JsonObject } from '../json.ts';
import type { DescribedHost } from './described-host.ts';
import type { DescribedOperation, DescribedRoute } from './described-operation.ts';
import { ERROR_STATUS, errorSchema, errorsOf } from './errors.ts';
import { type HeaderName, KEYED, RATE_LIMIT, RETIREMENT } from './headers.ts';
import { pathParameters } from './parameters.ts';
import type { Schemas } from './schemas.ts';

/** Builds the Operation Object of OpenAPI. */
export function operationObject(described: DescribedOperation): JsonObject {
  const { operation, route, major, host, collected } = described;
  const { tag, summary, description, answers } = route.describes;
  const own = Object.entries(inMajor(answers, major));
  return {
    operationId: operation.operationId,
    tags: [tag],
    summary,
    description,
    security: securityOf(route, host),
    parameters: parameters(described),
    ...requestBody(described),
    responses: {
      ...Object.fromEntries(own.map(([status, answer]) => [status, responseOf(answer, major, described, collected)])),
      ...errorResponses(described),
    },
  };
}

function securityOf({ access, credential }: DescribedRoute, { acceptsDpop }: DescribedHost): JsonObject[] {
  if (credential !== undefined) return [{ [credential.name]: [] }];
  if (!takesCredential(access)) return [];
  const scopes = scopesOf(access);
  return [{ bearer: scopes }, ...(acceptsDpop ? [{ dpop: scopes }] : [])];
}

function parameters(described: DescribedOperation): JsonObject[] {
  const { operation, route, major, host, collected } = described;
  const { path = {}, query = {}, headers = {}, answers } = route.describes;
  const known: Parameters = { ...pathParameters(major), ...path };
  const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const named = inPath.map((name) => [name, known[name] ?? z.string().min(1).describe(`The ${name} in the path.`)]);
  const names = operation.isProtocol && host.served.minClientVersion !== undefined;
  return [
    ...(operation.isProtocol ? [{ $ref: '#/components/parameters/SVC-Version' }] : []),
    ...(names ? [{ $ref: '#/components/parameters/SVC-Client-Version' }] : []),
    ...parametersOf('path', Object.fromEntries(named), collected),
    ...parametersOf('query', inMajor(query, major), collected),
    ...parametersOf('header', inMajor(headers, major), collected),
    ...('304' in inMajor(answers, major) ? [IF_NONE_MATCH] : []),
    ...(isKeyed(described) ? [idempotencyKey(major)] : []),
  ];
}

function isKeyed({ operation, route }: DescribedOperation): boolean {
  return operation.isProtocol ? takesKey(operation, route.access) : route.takesKey === true;
}

function parametersOf(place: 'path' | 'query' | 'header', schemas: Parameters, collected: Schemas): JsonObject[] {
  return Object.entries(schemas).map(([name, schema]) => {
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
  description: 'The `ETag` of the representation that the caller has. While it is current, the answer is 304.',
  schema: { type: 'string' },
};

function idempotencyKey(major: Major): JsonObject {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'A new key for each request, chosen by the caller. A retry with the same key gets the stored reply.',
    schema: { type: 'string', pattern: KEY_PATTERN[major], examples: ['6f1c7a2e-5b0d-4c53-9a77-0e2d41f3b8c6'] },
  };
}

const KEY_PATTERN: ByMajor<string> = { 1: '^[A-Za-z0-9._~-]{1,255}$', 2: '^[A-Za-z0-9._~-]{22,128}$' };

function requestBody({ route, major, collected }: DescribedOperation): JsonObject {
  const { content = route.schema && { 'application/json': route.schema[major] } } = route;
  if (content === undefined) return {};
  const { example } = route.describes;
  const media = Object.entries(content).map(([type, schema]) => [
    type,
    { schema: collected.of(schema), ...(example !== undefined && { example: inMajor(example, major) }) },
  ]);
  return { requestBody: { required: route.isBodyOptional !== true, content: Object.fromEntries(media) } };
}

function responseOf(
  { description, headers, content }: AnswerDescription,
  major: Major,
  described: DescribedOperation,
  collected: Schemas,
): JsonObject {
  const media = Object.entries(content).map(([type, schema]) => [type, { schema: collected.of(schema[major]) }]);
  return {
    description,
    headers: references([...everyHeader(described), ...headers]),
    ...(media.length > 0 && { content: Object.fromEntries(media) }),
  };
}

/** Returns a response for each error status, with the schema of every code of that status. */
function errorResponses(described: DescribedOperation): JsonObject {
  const { operation, route, major, host, collected } = described;
  const { errorBody } = route.describes;
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(route, operation, major, host.served)) {
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
        headers: references([
          ...everyHeader(described),
          ...(HEADERS_OF[status] ?? []),
          // Other protocols may forbid that their errors are stored.
          ...(errorBody === undefined ? [] : (['Cache-Control'] as const)),
        ]),
        content: {
          'application/json': { schema: errorBody ?? (others.length === 0 ? first : { oneOf: found }) },
        },
      },
    ];
  });
  return Object.fromEntries(responses);
}

const HEADERS_OF: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  409: ['Retry-After'],
  415: ['Accept-Encoding'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

function everyHeader(described: DescribedOperation): readonly HeaderName[] {
  const { operation, route, major, host } = described;
  return [
    ...(operation.isProtocol ? (['SVC-Version', 'Vary'] as const) : []),
    ...(route.isVerified === true || (host.limitsRate && route.access !== 'public') ? RATE_LIMIT : []),
    ...(isKeyed(described) ? KEYED : []),
    ...(operation.isProtocol && host.retires && major === 1 ? RETIREMENT : []),
  ];
}

function references(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
