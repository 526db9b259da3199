import { EgressError, type EgressErrorCode } from '../errors.ts';
import { type CheckedUrl, requestTarget } from '../url.ts';
import { Deadline } from './deadline.ts';
import { Guard, type GuardOptions, type Repeated } from './guard.ts';
import { checkRequestHeaders } from './request-headers.ts';

export type { Resolver } from './resolve.ts';

export interface GuardedPostOptions extends GuardOptions {
  /** Bytes of an answer that are read before its connection is dropped. Default 65 536. */
  readonly maxResponseBytes?: number;
}

export interface PostRequest {
  readonly url: string;
  /** A fixed set of the caller's own making, never a stranger's. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** One wall-clock bound over resolution, connection, TLS, headers and body, in ms. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Hands over the body of the answer, up to so many bytes; a longer one is left and counts as none. Default: no body is kept. */
  readonly keepBodyBytes?: number;
  /**
   * Sent at most once, so over a connection of its own; `'kept'`: over a kept one too, whose end is then a failure, as nobody can tell
   * whether the request had arrived. Default: a kept connection that turns out to be closed costs one more try.
   */
  readonly once?: boolean | 'kept';
}

export type PostVerdict =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly retryAfter: string | undefined;
      /** Whole, and only when it was asked for. Nobody has decoded it. */
      readonly body?: Uint8Array;
      readonly durationMs: number;
    }
  /** The guard refused; the reason is for logs. */
  | { readonly kind: 'denied'; readonly reason: string; readonly durationMs: number }
  | { readonly kind: 'failed'; readonly reason: PostFailure; readonly durationMs: number };

export type PostFailure = 'timeout' | 'aborted' | 'dns' | 'connect' | 'tls' | 'protocol';

export interface GuardedPost {
  /**
   * @throws {TypeError} for a header that only the guard may set
   */
  (request: PostRequest): Promise<PostVerdict>;
  /** Closes what is kept alive, and ends what is under way. */
  close(): void;
  /** How many connections there are. */
  readonly connections: { readonly idle: number; readonly busy: number };
}

/**
 * A POST to a URL that a stranger chose: resolved for this call, every answer judged, one of them dialled as a literal, and never
 * redirected. It resolves to a verdict whatever the other side does.
 *
 * A delivery may arrive twice: a POST that got no byte of an answer on a kept connection is sent once more on a new one, inside the
 * same deadline, unless it is to be sent `once`.
 *
 * @example
 * const post = guardedPost({ policy: egressPolicy() });
 * const verdict = await post({ url, headers: { 'content-type': 'application/json' }, body, timeoutMs: 5000 });
 * @see Interface: Webhook delivery rules, 1
 */
export function guardedPost({ maxResponseBytes = 65_536, ...options }: GuardedPostOptions): GuardedPost {
  const guard = new Guard(options);

  async function post(request: PostRequest): Promise<PostVerdict> {
    const { url, headers, timeoutMs, signal, keepBodyBytes, once = false } = request;
    checkRequestHeaders(headers);
    const started = performance.now();
    const deadline = new Deadline(timeoutMs, signal);
    try {
      const checked = guard.check(url);
      const answer = await guard.send(checked, exchangeOf(checked, request), deadline, repeatedWhen(once));
      const retryAfter = answer.headers['retry-after'];
      const isKept = keepBodyBytes !== undefined && answer.isComplete;
      return {
        kind: 'answered',
        status: answer.status,
        retryAfter,
        ...(isKept && { body: joined(answer.body) }),
        durationMs: performance.now() - started,
      };
    } catch (error) {
      return { ...verdictOf(error), durationMs: performance.now() - started };
    } finally {
      deadline.close();
    }
  }

  function exchangeOf(url: CheckedUrl, { headers, body, keepBodyBytes }: PostRequest) {
    return {
      method: 'POST',
      path: requestTarget(url),
      headers,
      body,
      maxResponseBytes: keepBodyBytes ?? maxResponseBytes,
      whenLonger: 'leave',
      keepsBody: keepBodyBytes !== undefined,
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

/** What is neither here nor a failure to resolve or connect was refused. */
const FAILURES: Readonly<Partial<Record<EgressErrorCode, PostFailure>>> = {
  timeout: 'timeout',
  aborted: 'aborted',
  tls_failed: 'tls',
  protocol_error: 'protocol',
};
