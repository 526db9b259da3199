import { EgressError, type EgressErrorCode } from '../errors.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { type CheckedUrl, requestHost, requestTarget } from '../url.ts';
import { Deadline } from './deadline.ts';
import type { ExchangeResponse } from './exchange.ts';
import { GUARD_OPTIONS, Guard, type GuardOptions, type Phase, type Repeated } from './guard.ts';
import { checkRequestHeaders } from './request-headers.ts';

export type { Phase } from './guard.ts';
export type { Network } from './network.ts';
export type { Resolver } from './resolve.ts';

/** The options of `guardedPost`. */
export interface GuardedPostOptions extends GuardOptions {
  /** The bytes of a response body that are read before its connection is closed. Default 65 536. */
  readonly maxResponseBytes?: number;
}

const GUARDED_POST_OPTIONS: OptionNames<GuardedPostOptions> = { ...GUARD_OPTIONS, maxResponseBytes: true };

/** One POST request. */
export interface PostRequest {
  /** The URL, as a stranger gave it. */
  readonly url: string;
  /** The headers: the caller's own, never from a stranger, and without those that the guard sets, such as `host`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body; a string is sent as UTF-8. */
  readonly body: Uint8Array | string;
  /** The deadline in milliseconds for resolution, connection, TLS, headers and body together. */
  readonly timeoutMs: number;
  /** A signal that aborts the request. */
  readonly signal?: AbortSignal;
  /**
   * The largest response body in bytes that the verdict contains; a longer body is omitted. Default: no body is kept.
   */
  readonly keepBodyBytes?: number;
  /**
   * The most bytes of the body that the verdict contains in `failure` when the status is not 2xx. Not with
   * `keepBodyBytes`. Default: the verdict has no `failure`.
   */
  readonly keepFailureBytes?: number;
  /**
   * Whether the request is sent at most once. `true` opens a new connection for it. `'kept'` may reuse a kept
   * connection, and fails when that turns out to be closed, because the request may have arrived. Default false: the
   * request is then sent again.
   */
  readonly once?: boolean | 'kept';
  /** Called when a phase of the request begins. It must not throw. */
  readonly onPhase?: ((phase: Phase) => void) | undefined;
}

const POST_REQUEST: OptionNames<PostRequest> = {
  url: true,
  headers: true,
  body: true,
  timeoutMs: true,
  signal: true,
  keepBodyBytes: true,
  keepFailureBytes: true,
  once: true,
  onPhase: true,
};

/** The outcome of a POST. `durationMs` is its duration in milliseconds. */
export type PostVerdict =
  /** The destination responded. */
  | {
      readonly kind: 'answered';
      /** The status of the response. */
      readonly status: number;
      /** The header `Retry-After`, as it was received. */
      readonly retryAfter: string | undefined;
      /** The whole body, not decoded; only with `keepBodyBytes`, and only when it is not longer. */
      readonly body?: Uint8Array;
      /** The response; only with `keepFailureBytes`, and only when the status is not 2xx. */
      readonly failure?: FailureResponse;
      /** The duration in milliseconds. */
      readonly durationMs: number;
    }
  /** The guard denied the destination. `reason` is for logs only: it reveals the kind of an internal address. */
  | { readonly kind: 'denied'; readonly reason: string; readonly durationMs: number }
  /** The request failed on its way. */
  | { readonly kind: 'failed'; readonly reason: PostFailure; readonly durationMs: number };

/** A response whose status is not 2xx. */
export interface FailureResponse {
  /** The headers by their names in lower case. A repeated header has its values separated by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body, not decoded. */
  readonly body: Uint8Array;
  /** Whether the body was longer, or was not read to its end. */
  readonly isCut: boolean;
}

/** The stage or cause of a failed POST. */
export type PostFailure = 'timeout' | 'aborted' | 'dns' | 'connect' | 'tls' | 'protocol';

/** A POST that only reaches allowed destinations. */
export interface GuardedPost {
  /**
   * Sends one request. It resolves for every behaviour of the destination.
   *
   * @throws {TypeError} when a header is invalid or is one that the guard sets, or a field is unknown
   */
  (request: PostRequest): Promise<PostVerdict>;
  /** Closes the kept connections, and ends the running requests. */
  close(): void;
  /** The numbers of connections. */
  readonly connections: { readonly idle: number; readonly busy: number };
}

/**
 * Makes a function that sends POST requests to URLs from strangers. It resolves the name for each call, judges every
 * address, dials one of them as a literal, and follows no redirect. It resolves to a verdict for every behaviour of the
 * destination.
 *
 * A request may arrive twice: when a kept connection closes before the first byte of a response, the request is sent
 * again over a new connection, within the same deadline. The option `once` prevents that.
 *
 * @throws {TypeError} when an option is unknown, or a limit on connections is not a whole number
 * @example
 * import { guardedPost } from '@svc/egress-guard/post';
 *
 * const post = guardedPost();
 * const headers = { 'content-type': 'application/json' };
 * const verdict = await post({ url: 'https://hooks.example/', headers, body: '{}', timeoutMs: 5000 });
 * console.log(verdict.kind); // answered, denied or failed
 * @see Interface: Webhook delivery rules, 1
 */
export function guardedPost(options: GuardedPostOptions = {}): GuardedPost {
  requireKnown('guardedPost', options, GUARDED_POST_OPTIONS);
  const { maxResponseBytes = 65_536, ...guardOptions } = options;
  const guard = new Guard('guardedPost', guardOptions);

  async function post(request: PostRequest): Promise<PostVerdict> {
    requireKnown('guardedPost', request, POST_REQUEST);
    const { url, headers, timeoutMs, signal, keepBodyBytes, keepFailureBytes, once = false, onPhase } = request;
    checkRequestHeaders(headers);
    const started = performance.now();
    const deadline = new Deadline(timeoutMs, signal);
    try {
      const checked = guard.check(url);
      const answer = await guard.send(checked, exchangeOf(checked, request), deadline, repeatedWhen(once), onPhase);
      const retryAfter = [answer.headers['retry-after']].flat()[0];
      const isKept = keepBodyBytes !== undefined && answer.isComplete;
      const isFailure = keepBodyBytes === undefined && keepFailureBytes !== undefined && !isSuccess(answer.status);
      return {
        kind: 'answered',
        status: answer.status,
        retryAfter,
        ...(isKept && { body: joined(answer.body) }),
        ...(isFailure && { failure: failureOf(answer) }),
        durationMs: performance.now() - started,
      };
    } catch (error) {
      return { ...verdictOf(error), durationMs: performance.now() - started };
    } finally {
      deadline.close();
    }
  }

  function exchangeOf(url: CheckedUrl, { headers, body, keepBodyBytes, keepFailureBytes = 0, onPhase }: PostRequest) {
    return {
      method: 'POST',
      host: requestHost(url),
      path: requestTarget(url),
      headers,
      body,
      maxResponseBytes: keepBodyBytes ?? maxResponseBytes,
      whenLonger: 'leave',
      keptBytes: (status: number) => {
        if (keepBodyBytes !== undefined) return keepBodyBytes;
        return isSuccess(status) ? 0 : keepFailureBytes;
      },
      onPhase,
    } as const;
  }

  return Object.defineProperty(Object.assign(post, { close: () => guard.close() }), 'connections', {
    get: () => guard.connections,
  }) as GuardedPost;
}

function repeatedWhen(once: boolean | 'kept'): Repeated {
  if (once === 'kept') return 'if-unsent';
  return once ? 'never' : 'always';
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function failureOf({ headers, body, size, isComplete }: ExchangeResponse): FailureResponse {
  const kept = joined(body);
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, [value].flat().join(', ')]],
  );
  return { headers: Object.fromEntries(entries), body: kept, isCut: !isComplete || size > kept.length };
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(chunks));
}

function verdictOf(error: unknown): { kind: 'denied'; reason: string } | { kind: 'failed'; reason: PostFailure } {
  if (!EgressError.is(error)) throw error;
  const { code, reason } = error;
  const failure = FAILURES[code];
  if (failure !== undefined) return { kind: 'failed', reason: failure };
  if (reason === 'dns' || reason === 'connect') return { kind: 'failed', reason };
  return { kind: 'denied', reason };
}

/** The failures by error code. An error without a row is a denial, unless it happened while resolving or connecting. */
const FAILURES: Readonly<Partial<Record<EgressErrorCode, PostFailure>>> = {
  timeout: 'timeout',
  aborted: 'aborted',
  tls_failed: 'tls',
  protocol_error: 'protocol',
};
