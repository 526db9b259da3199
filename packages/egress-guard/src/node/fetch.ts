import { EgressError, type EgressErrorCode } from '../errors.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { type CheckedUrl, requestHost, requestTarget } from '../url.ts';
import { Deadline } from './deadline.ts';
import { decoded } from './decode.ts';
import type { ExchangeResponse } from './exchange.ts';
import { GUARD_OPTIONS, Guard, type GuardOptions } from './guard.ts';
import { isSameOrigin, redirectTarget } from './redirect.ts';
import { checkRequestHeaders } from './request-headers.ts';

export type { Network } from './network.ts';

export { EgressError, type EgressErrorCode };

/** The methods of a guarded fetch. */
export type FetchMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';

/** The options of `guardedFetch`. */
export interface GuardedFetchOptions extends GuardOptions {
  /** The largest response body in bytes, both before and after decoding. Default 10 485 760. */
  readonly maxResponseBytes?: number;
  /** The deadline in milliseconds for the whole call, including redirects. Default 30 000. */
  readonly timeoutMs?: number;
  /** The largest number of redirects that `redirect: 'follow'` follows. Default 5. */
  readonly maxRedirects?: number;
}

/** The request of a guarded fetch. */
export interface FetchInit {
  /** The method. Default GET. */
  readonly method?: FetchMethod;
  /** The headers, without those that the guard sets, such as `host`. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body; not allowed for GET and HEAD. Default: none. */
  readonly body?: string | Uint8Array;
  /** A signal that aborts the call. */
  readonly signal?: AbortSignal;
  /**
   * The treatment of a redirect: `error` throws, `manual` returns it, `follow` judges each hop like a new call. Default
   * `error`.
   */
  readonly redirect?: 'error' | 'manual' | 'follow';
  /**
   * Whether to accept gzip, deflate and br, and decode them within the limit. Default false: a compressed response is
   * an error.
   */
  readonly decompress?: boolean;
}

/** A `fetch` that only reaches allowed destinations. */
export interface GuardedFetch {
  /**
   * Calls a URL.
   *
   * @returns the whole response, with its body in memory
   * @throws {EgressError} with any code
   * @throws {TypeError} when the method, a header or the body is not allowed
   */
  (url: string | URL, init?: FetchInit): Promise<Response>;
  /** Closes the kept connections, and ends the running calls. */
  close(): void;
}

const GUARDED_FETCH_OPTIONS: OptionNames<GuardedFetchOptions> = {
  ...GUARD_OPTIONS,
  maxResponseBytes: true,
  timeoutMs: true,
  maxRedirects: true,
};

/**
 * Makes a `fetch` for URLs from strangers. Each call is judged and resolved anew; a kept connection serves it only when
 * its peer is among the judged addresses.
 *
 * @throws {TypeError} when an option is unknown, or a limit on connections is not a whole number
 * @example
 * import { guardedFetch } from '@svc/egress-guard/fetch';
 *
 * const safeFetch = guardedFetch();
 * const response = await safeFetch('https://hooks.example/', { headers: { accept: 'application/json' } });
 * console.log(await response.json());
 * @see Interface: Limits, HTTP client
 */
export function guardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  requireKnown('guardedFetch', options, GUARDED_FETCH_OPTIONS);
  const { maxResponseBytes = 10_485_760, timeoutMs = 30_000, maxRedirects = 5, ...guardOptions } = options;
  const guard = new Guard('guardedFetch', guardOptions);

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
      host: requestHost(url),
      path: requestTarget(url),
      headers: { 'accept-encoding': decompress ? 'gzip, deflate, br' : 'identity', ...headers },
      body,
      // The content-length of a response to HEAD describes a body that is not sent.
      maxResponseBytes: method === 'HEAD' ? Number.POSITIVE_INFINITY : maxResponseBytes,
      whenLonger: 'fail',
      keptBytes: () => Number.POSITIVE_INFINITY,
    } as const;
    return guard.send(url, request, deadline, IDEMPOTENT.has(method) ? 'always' : 'if-unsent');
  }

  return Object.assign(fetch, { close: () => guard.close() });
}

/** One request of a chain of redirects. */
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

/**
 * Makes the request that a redirect asks for (RFC 9110, 15.4). As in a browser, credentials do not follow to another
 * origin.
 */
function nextStep({ method, headers, body }: Step, from: CheckedUrl, url: string, status: number): Step {
  const becomesGet = status === 303 ? method !== 'HEAD' : (status === 301 || status === 302) && method === 'POST';
  const isOwn = isSameOrigin(url, from.href);
  const kept = Object.entries(headers).filter(([name]) => {
    if (!isOwn && /^(?:authorization|cookie)$/i.test(name)) return false;
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
