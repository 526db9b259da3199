import { rootCertificates } from 'node:tls';
import { type Address, parseAddress } from '../address.ts';
import { checkAnswers } from '../answers.ts';
import { isLoopback } from '../classify.ts';
import type { EgressPolicy } from '../policy.ts';
import { type CheckedUrl, checkUrl } from '../url.ts';
import { DialError, dial } from './connect.ts';
import { exchange } from './exchange.ts';
import { isOwnAddress } from './interfaces.ts';
import { dnsResolver, type Resolver } from './resolve.ts';

export type { Resolver } from './resolve.ts';

export interface GuardedPostOptions {
  readonly policy: EgressPolicy;
  /** PEM certificate authorities trusted beside the runtime's. */
  readonly ca?: readonly string[];
  readonly resolver?: Resolver;
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
}

export type PostVerdict =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly retryAfter: string | undefined;
      readonly durationMs: number;
    }
  /** The guard refused; the reason is for logs. */
  | { readonly kind: 'denied'; readonly reason: string; readonly durationMs: number }
  | { readonly kind: 'failed'; readonly reason: PostFailure; readonly durationMs: number };

export type PostFailure = 'timeout' | 'aborted' | 'dns' | 'connect' | 'tls' | 'protocol';

export type GuardedPost = (request: PostRequest) => Promise<PostVerdict>;

/**
 * A POST to a URL that a stranger chose: resolved once, every answer judged, one of them dialled as a literal, and never
 * redirected. It resolves to a verdict whatever the other side does.
 *
 * @throws {TypeError} for a header that only the guard may set
 * @see Interface: Webhook delivery rules, 1
 */
export function guardedPost(options: GuardedPostOptions): GuardedPost {
  const { policy, resolver = dnsResolver, maxResponseBytes = 65_536 } = options;
  const ca = options.ca === undefined ? undefined : [...rootCertificates, ...options.ca];

  return async (request) => {
    refuseReservedHeaders(request.headers);
    const started = performance.now();
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(TIMED_OUT), request.timeoutMs);
    const cancel = () => deadline.abort(ABORTED);
    request.signal?.addEventListener('abort', cancel, { once: true });
    if (request.signal?.aborted) cancel();
    try {
      const verdict = await attempt(request, deadline.signal);
      return { ...verdict, durationMs: performance.now() - started };
    } catch (error) {
      return { kind: 'failed', reason: failureOf(error, deadline.signal), durationMs: performance.now() - started };
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', cancel);
    }
  };

  async function attempt(request: PostRequest, signal: AbortSignal): Promise<Undated> {
    const checked = checkUrl(request.url, policy);
    if (!checked.ok) return { kind: 'denied', reason: checked.reason };
    const { url } = checked;
    const answers = await addressesOf(url, signal);
    if (!answers.ok) return { kind: 'denied', reason: answers.reason };
    const { protocol, hostname, port } = url;
    const socket = await dial({ protocol, hostname, port, addresses: answers.addresses, ca, signal });
    const { origin, pathname, search } = new URL(url.href);
    const { headers, body } = request;
    const response = await exchange(socket, {
      origin,
      path: pathname + search,
      headers,
      body,
      maxResponseBytes,
      signal,
    });
    return { kind: 'answered', ...response };
  }

  async function addressesOf(url: CheckedUrl, signal: AbortSignal) {
    // The URL check has judged the literal, and opened localhost or not.
    if (url.literal !== undefined) return checkAnswers([url.hostname], policy, url.port, isOwnBeyondLoopback);
    if (url.localhost) return { ok: true, addresses: LOOPBACK_ADDRESSES } as const;
    const answers = await aborting(resolver.resolve(url.hostname, { signal }), signal).catch((error: unknown) => {
      throw signal.aborted ? error : new ResolutionError(error);
    });
    const check = checkAnswers(answers, policy, url.port, isOwnAddress);
    // A public name that points at this machine is the attack, even where localhost itself is open.
    const loopback = check.ok && check.addresses.some(isLoopback);
    return loopback ? ({ ok: false, reason: 'loopback' } as const) : check;
  }
}

type Undated =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfter: string | undefined }
  | { readonly kind: 'denied'; readonly reason: string };

/** Loopback is an interface too; as a literal it was judged by its switch. */
function isOwnBeyondLoopback(address: Address): boolean {
  return !isLoopback(address) && isOwnAddress(address);
}

const LOOPBACK_ADDRESSES: readonly Address[] = ['127.0.0.1', '::1'].flatMap((text) => parseAddress(text) ?? []);
const TIMED_OUT = Symbol('timed out');
const ABORTED = Symbol('aborted');

class ResolutionError extends Error {
  constructor(cause: unknown) {
    super('The name could not be resolved.', { cause });
    this.name = 'ResolutionError';
  }
}

/** What frames the message, names its destination or steers intermediaries is the guard's to write. */
const RESERVED =
  /^(?:host|connection|content-length|transfer-encoding|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/i;

function refuseReservedHeaders(headers: Readonly<Record<string, string>>): void {
  const reserved = Object.keys(headers).find((name) => RESERVED.test(name));
  if (reserved !== undefined) throw new TypeError(`The header ${reserved} is set by the guard alone.`);
}

function failureOf(error: unknown, signal: AbortSignal): PostFailure {
  if (signal.aborted) return signal.reason === TIMED_OUT ? 'timeout' : 'aborted';
  if (error instanceof ResolutionError) return 'dns';
  return error instanceof DialError ? error.stage : 'protocol';
}

/** A resolver that does not heed the signal must not hold up the deadline. */
function aborting<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    if (signal.aborted) abort();
  });
}
