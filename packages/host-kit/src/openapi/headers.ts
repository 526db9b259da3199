import type { JsonObject } from '../json.ts';

/** The response headers of the API description. */
export const HEADERS = {
  'SVC-Version': header('The `<major>.<minor>` of the contract that produced the response.', { example: '2.0' }, true),
  ETag: header('The strong validator of this representation. Send it back in `If-None-Match`.'),
  'Cache-Control': header('Rules for caches: who may store the response, and for how long.'),
  'Content-Disposition': header('The name of the file to which a browser saves the body.'),
  'Accept-Encoding': header('The content codings that the host accepts for request bodies.'),
  Vary: header('The request headers that the representation depends on.'),
  'SVC-Idempotent-Replay': header(
    'Present when this is the stored reply to an earlier request with the same `Idempotency-Key`.',
    {
      const: 'true',
    },
  ),
  'Retry-After': header('Seconds to wait before the next try.', { type: 'integer', minimum: 0 }),
  'WWW-Authenticate': header('The authentication scheme to use, and the fault of the credential if there was one.'),
  RateLimit: header(
    'The remaining requests of this credential, or of this client (IETF draft RateLimit header fields).',
  ),
  'RateLimit-Policy': header(
    'The rate limit of this credential, or of this client (IETF draft RateLimit header fields).',
  ),
  Deprecation: header('The date of the deprecation of this major (RFC 9745).'),
  Sunset: header('The date from which this major is no longer served (RFC 8594).'),
  Link: header('A page for people about the end of this major.'),
} as const;

/** The name of a response header of the API description. */
export type HeaderName = keyof typeof HEADERS;

/** Headers of every response to a credential, if the host limits its rate, and of every response of a verified route. */
export const RATE_LIMIT = ['RateLimit', 'RateLimit-Policy'] as const;
/** Headers of every response of an operation that takes an `Idempotency-Key`. */
export const KEYED = ['SVC-Idempotent-Replay'] as const;
/** Headers of every response of major 1, if the host has announced its end. */
export const RETIREMENT = ['Deprecation', 'Sunset', 'Link'] as const;

/** Returns the headers that some operation refers to. Linters report unused components. */
export function headersOf(paths: JsonObject): JsonObject {
  const text = JSON.stringify(paths);
  return Object.fromEntries(Object.entries(HEADERS).filter(([name]) => text.includes(`#/components/headers/${name}"`)));
}

function header(description: string, schema: JsonObject = {}, required = false): JsonObject {
  const { example, ...constraints } = schema;
  return {
    description,
    ...(required && { required }),
    schema: { type: 'string', ...constraints, ...(example !== undefined && { examples: [example] }) },
  };
}
