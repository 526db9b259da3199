import type { JsonObject } from '../json.ts';

/** Every response header that the API description names. */
export const HEADERS = {
  'SVC-Version': header('The `<major>.<minor>` of the contract that produced the response.', { example: '2.0' }, true),
  ETag: header('The strong validator of this representation, for `If-None-Match`.'),
  'Cache-Control': header('Who may keep the response, and for how long.'),
  'Accept-Encoding': header('The content codings that a request body may have.'),
  Vary: header('The request headers that chose this representation.'),
  'SVC-Idempotent-Replay': header('There when an earlier request with the same `Idempotency-Key` was answered so.', {
    const: 'true',
  }),
  'Retry-After': header('Whole seconds after which to try again.', { type: 'integer', minimum: 0 }),
  'WWW-Authenticate': header('How to authenticate, and what was wrong with the credential.'),
  RateLimit: header('What is left of the limit of this credential, in the form of the IETF draft.'),
  'RateLimit-Policy': header('The limit of this credential, in the form of the IETF draft.'),
  Deprecation: header('When this major was declared deprecated (RFC 9745).'),
  Sunset: header('When this major will be gone (RFC 8594).'),
  Link: header('Where people read about the end of this major.'),
} as const;

export type HeaderName = keyof typeof HEADERS;

/** Of every response where requests are limited, where keys are honoured, and where major 1 is announced to end. */
export const RATE_LIMIT = ['RateLimit', 'RateLimit-Policy'] as const;
export const KEYED = ['SVC-Idempotent-Replay'] as const;
export const RETIREMENT = ['Deprecation', 'Sunset', 'Link'] as const;

function header(description: string, schema: JsonObject = {}, required = false): JsonObject {
  const { example, ...constraints } = schema;
  return {
    description,
    ...(required && { required }),
    schema: { type: 'string', ...constraints, ...(example !== undefined && { examples: [example] }) },
  };
}
