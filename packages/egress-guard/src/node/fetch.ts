import { EgressError, type EgressErrorCode } from '../errors.ts';
import { type CheckedUrl, requestTarget } from '../url.ts';
import { Deadline } from './deadline.ts';
import { decoded } from './decode.ts';
import type { ExchangeResponse } from './exchange.ts';
import { Guard, type GuardOptions } from './guard.ts';
import { checkRequestHeaders } from './request-headers.ts';

export { EgressError, type EgressErrorCode };

export type FetchMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';

export interface GuardedFetchOptions extends GuardOptions {
  /** Bytes of an answer's body, both as they are on the wire and decoded. Default 10 485 760. */
  readonly maxResponseBytes?: number;
  /** One wall-clock bound over everything, redirects included, in ms. Default 30 000. */
  readonly timeoutMs?: number;
  /** How many redirects `redirect: 'follow'` follows. Default 5. */
  readonly maxRedirects?: number;
}

export interface FetchInit {
  /** Default GET. */
  readonly method?: FetchMethod;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** What becomes of a 3xx with a Location. Default `error`. `follow` judges every hop anew, as if it had been asked for. */
  readonly redirect?: 'error' | 'manual' | 'follow';
  /** Asks for gzip, deflate and br, and decodes them within the limit. Default false: a compressed answer is an error. */
  readonly decompress?: boolean;
}

export interface GuardedFetch {
  /**
   * @returns the whole answer: its body is in memory, within the limit
   * @throws {EgressError}
   * @throws {TypeError} for a method or a header that is not the caller's to set
   */
  (url: string | URL, init?: FetchInit): Promise<Response>;
  /** Closes what is kept alive, and ends what is under way. */
  close(): void;
}

/**
 * A `fetch` for URLs that strangers chose.
 *
 * @example
 * const safeFetch = guardedFetch({ policy: egressPolicy() });
 * const answer = await safeFetch(url, { headers: { accept: 'application/json' } });
 * @see Interface: Limits, HTTP client
 */
export function guardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { maxResponseBytes = 10_485_760, timeoutMs = 30_000, maxRedirects = 5, ...guardOptions } = options;
  const guard = new Guard(guardOptions);

  async function fetch(input: string | URL, init: FetchInit = {}): Promise<Response> {
    const deadline = new Deadline(timeoutMs, init.signal);
    try {
      return await call(firstStep(String(input), init), init, deadline);
    } finally {
      deadline.close();
    }
  }

  async function call(first: Step, init: FetchInit, deadline: Deadline): Promise<Response> {
    let step = first;
    for (let redirects = 0; ; redirects += 1) {
      const url = guard.check(step.url);
      const answer = await send(url, step, init.decompress === true, deadline);
      const target = redirectTarget(answer, url);
      if (target === undefined || init.redirect === 'manual') return responseOf(answer, init, url, maxResponseBytes);
      if (init.redirect !== 'follow' || redirects === maxRedirects) {
        throw new EgressError('redirect_refused', redirects === 0 ? 'redirect' : 'too-many-redirects');
      }
      step = nextStep(step, url, target, answer.status);
    }
  }

  function send(url: CheckedUrl, { method, headers, body }: Step, decompress: boolean, deadline: Deadline) {
    const request = {
      method,
      path: requestTarget(url),
      headers: { 'accept-encoding': decompress ? 'gzip, deflate, br' : 'identity', ...headers },
      body,
      // The length that a HEAD is answered with is that of a body which does not come.
      maxResponseBytes: method === 'HEAD' ? Number.POSITIVE_INFINITY : maxResponseBytes,
      whenLonger: 'fail',
      keepsBody: true,
    } as const;
    return guard.send(url, request, deadline, IDEMPOTENT.has(method) ? 'always' : 'if-unsent');
  }

  return Object.assign(fetch, { close: () => guard.close() });
}

/** A request of a chain of redirects. */
interface Step {
  readonly url: string;
  readonly method: FetchMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']);
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

function firstStep(url: string, { method = 'GET', headers = {}, body }: FetchInit): Step {
  if (!METHODS.has(method))
    throw new TypeError(`method: must be one of ${[...METHODS].join(', ')}. Leave it out for GET.`);
  if (body !== undefined && BODILESS.has(method)) {
    throw new TypeError(`body: a ${method} request must not have one. Leave it out, or use another method.`);
  }
  checkRequestHeaders(headers);
  return { url, method, headers, body: typeof body === 'string' ? new TextEncoder().encode(body) : body };
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Where an answer sends its caller; relative to what was called. */
function redirectTarget({ status, headers }: ExchangeResponse, { href }: CheckedUrl): string | undefined {
  const { location } = headers;
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  return URL.canParse(location, href) ? new URL(location, href).href : location;
}

/** The request that a redirect asks for: RFC 9110 15.4, and what a browser leaves behind when the origin changes. */
function nextStep({ method, headers, body }: Step, from: CheckedUrl, url: string, status: number): Step {
  const becomesGet = status === 303 ? method !== 'HEAD' : (status === 301 || status === 302) && method === 'POST';
  const isSameOrigin = URL.canParse(url) && new URL(url).origin === new URL(from.href).origin;
  const kept = Object.entries(headers).filter(([name]) => {
    if (!isSameOrigin && /^(?:authorization|cookie)$/i.test(name)) return false;
    return !(becomesGet && /^content-/i.test(name));
  });
  return {
    url,
    method: becomesGet ? 'GET' : method,
    headers: Object.fromEntries(kept),
    body: becomesGet ? undefined : body,
  };
}

async function responseOf(
  answer: ExchangeResponse,
  { method, decompress = false }: FetchInit,
  url: CheckedUrl,
  maxBytes: number,
): Promise<Response> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const one of [value].flat()) if (one !== undefined) headers.append(name, one);
  }
  const wire = Buffer.concat(answer.body);
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  const isEncoded = method !== 'HEAD' && wire.length > 0 && encoding !== 'identity';
  if (isEncoded && !decompress) throw new EgressError('response_encoded', 'content-encoding');
  const body = isEncoded ? await decoded(wire, encoding, maxBytes) : wire;
  if (isEncoded) {
    headers.delete('content-encoding');
    headers.delete('content-length');
  }
  const isNull = method === 'HEAD' || [204, 205, 304].includes(answer.status);
  const response = new Response(isNull ? null : new Uint8Array(body), { status: answer.status, headers });
  Object.defineProperty(response, 'url', { value: url.href });
  return response;
}
