import type { Answer } from './answer.ts';

/**
 * The web pages that may call the host, by their origins.
 *
 * @see Fetch standard: CORS protocol
 */
export interface CorsOptions {
  /** The exact origins, such as `https://console.example.com`. `['*']`: every origin. */
  readonly origins: readonly string[];
  /**
   * Whether pages may send cookies and client certificates with their requests. Never needed for a credential in
   * `Authorization`, and refused together with `*`. Default: false.
   */
  readonly credentials?: boolean;
  /** The time for which a browser remembers the answer to a preflight, in seconds, at most 86 400. Default 600. */
  readonly maxAgeSeconds?: number;
}

/** The answers of one host to the CORS protocol. */
export interface Cors {
  /** The answer to a preflight; undefined for any other request. It is the same for every path. */
  preflight(request: Request): Answer | undefined;
  /** Permits the page that sent a request to read the answer. Another origin gets the answer without a permission. */
  granted(request: Request, answer: Answer): Answer;
}

/** The parts of a host's requests that a preflight has to permit. */
export interface CorsTerms {
  readonly methods: readonly string[];
  /** Request headers of operations, beside those of every host. */
  readonly headers: readonly string[];
}

/**
 * Creates the answers to the CORS protocol.
 *
 * @throws {TypeError} for an origin that is not exact, and for `*` beside other origins or with `credentials`
 */
export function cors(options: CorsOptions, { methods, headers }: CorsTerms): Cors {
  const { origins, credentials = false, maxAgeSeconds = 600 } = options;
  requirePermissible(origins, credentials, maxAgeSeconds);
  const isForAll = origins.includes('*');
  const allowed = new Set(origins);
  const permitted = {
    'access-control-allow-methods': [...new Set(['GET', 'HEAD', ...methods])].join(', '),
    'access-control-allow-headers': [...new Set([...REQUEST_HEADERS, ...headers])].join(', '),
    'access-control-max-age': String(maxAgeSeconds),
  };

  function grantTo(request: Request): Answer['headers'] {
    const origin = request.headers.get('origin');
    if (origin === null || !(isForAll || allowed.has(origin))) return NOTHING;
    return {
      'access-control-allow-origin': isForAll ? '*' : origin,
      ...(credentials && { 'access-control-allow-credentials': 'true' }),
    };
  }

  return {
    preflight(request) {
      const { method, headers: asked } = request;
      if (method !== 'OPTIONS' || !asked.has('origin') || !asked.has('access-control-request-method')) return undefined;
      const grant = grantTo(request);
      const terms = grant === NOTHING ? NOTHING : { ...grant, ...permitted };
      return { status: 204, headers: { ...terms, ...(!isForAll && { vary: 'Origin' }) }, body: undefined };
    },
    granted(request, answer) {
      const grant = grantTo(request);
      const headers = {
        ...answer.headers,
        ...grant,
        ...(grant !== NOTHING && { 'access-control-expose-headers': EXPOSED }),
        // Also where nothing is granted: a cache must not give this answer to another origin.
        ...(!isForAll && { vary: varyBy(answer.headers.vary) }),
      };
      return { ...answer, headers };
    },
  };
}

const NOTHING: Answer['headers'] = {};

/** Request headers that every host reads. */
const REQUEST_HEADERS = [
  ...['Accept', 'Authorization', 'Content-Type', 'DPoP', 'Idempotency-Key', 'If-Match', 'If-None-Match'],
  ...['Last-Event-ID', 'SVC-Client-Version', 'SVC-Version', 'traceparent', 'tracestate'],
];

/** Response headers that scripts may read, beside those that every script may read. */
export const EXPOSED_HEADERS: readonly string[] = [
  ...['Accept-Encoding', 'Allow', 'Content-Disposition', 'Deprecation', 'DPoP-Nonce', 'ETag', 'Link', 'RateLimit'],
  ...['RateLimit-Policy', 'Retry-After', 'Sunset', 'SVC-Idempotent-Replay', 'SVC-Version', 'Vary', 'WWW-Authenticate'],
];
const EXPOSED = EXPOSED_HEADERS.join(', ');

function varyBy(vary: string | undefined): string {
  if (vary === undefined || vary === '') return 'Origin';
  return vary.split(',').some((name) => ['*', 'origin'].includes(name.trim().toLowerCase())) ? vary : `${vary}, Origin`;
}

function requirePermissible(origins: readonly string[], credentials: boolean, maxAgeSeconds: number): void {
  const inexact = origins.find((origin) => !isOrigin(origin) && origin !== '*');
  if (inexact !== undefined) {
    const shown = JSON.stringify(inexact.slice(0, 64));
    throw new TypeError(
      `http.cors.origins: ${shown} is no exact origin. Pass one such as https://console.example.com.`,
    );
  }
  if (origins.length === 0) throw new TypeError('http.cors.origins: is empty. Name an origin, or leave http.cors out.');
  if (origins.includes('*') && origins.length > 1)
    throw new TypeError('http.cors.origins: * stands beside other origins. Remove it, or the others.');
  if (origins.includes('*') && credentials)
    throw new TypeError(
      'http.cors.credentials: is refused with the origin *. List the origins that may send credentials.',
    );
  if (!Number.isInteger(maxAgeSeconds) || maxAgeSeconds < 0 || maxAgeSeconds > 86_400)
    throw new TypeError('http.cors.maxAgeSeconds: must be a whole number from 0 to 86400. Leave it out for 600.');
}

/** An origin as browsers send it: lower case, without a default port, a path or a slash at the end. */
function isOrigin(text: string): boolean {
  if (!/^https?:/.test(text)) return /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+(?::[0-9]+)?$/.test(text);
  // A pattern is no origin, but a URL may contain its star.
  return !text.includes('*') && URL.canParse(text) && new URL(text).origin === text;
}
