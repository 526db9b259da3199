// The declarations of this file name types of Node. Without this line, a consumer would need to list `node` in `types`.
/// <reference types="node" preserve="true" />
import { EgressError, type EgressErrorCode } from '../errors.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { type CheckedUrl, requestHost, requestTarget } from '../url.ts';
import { Deadline } from './deadline.ts';
import { DESTINATION_OPTIONS, Guard, type GuardOptions } from './guard.ts';
import { isSameOrigin, redirectTarget } from './redirect.ts';
import { requestBytes } from './request-bytes.ts';
import { checkRequestHeaders } from './request-headers.ts';
import { StreamReading } from './stream-reading.ts';

export type { Network } from './network.ts';

export { EgressError, type EgressErrorCode };

/** The options of {@link guardedStream}. */
export interface GuardedStreamOptions extends Pick<GuardOptions, 'policy' | 'resolver' | 'network'> {
  /** The deadline in milliseconds until the head of the response is read, redirects included. Default 30 000. */
  readonly openTimeoutMs?: number;
  /** The longest time in milliseconds without a byte, while the caller waits for one. Default 60 000. */
  readonly idleMs?: number;
  /** The largest number of redirects. Default 5. */
  readonly maxRedirects?: number;
}

/** The request of a guarded stream. */
export interface StreamInit {
  /** The headers, without those that the guard sets, such as `host`. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A signal that ends the stream. */
  readonly signal?: AbortSignal;
}

/** A response whose body is read as it arrives. */
export interface StreamedResponse {
  /** The status. */
  readonly status: number;
  /** The headers. */
  readonly headers: Headers;
  /** The URL that responded, after redirects. */
  readonly url: string;
  /**
   * The chunks of the body. It can be iterated once. The server waits while the caller does not read: at most 64 KiB and one
   * chunk are kept. The end of the iteration closes the connection.
   *
   * @throws {EgressError} `timeout`, `aborted`, `protocol_error`
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection. */
  close(): void;
}

/** A `GET` whose response is read as it arrives. */
export type GuardedStream = (url: string | URL, init?: StreamInit) => Promise<StreamedResponse>;

const GUARDED_STREAM_OPTIONS: OptionNames<GuardedStreamOptions> = {
  ...DESTINATION_OPTIONS,
  openTimeoutMs: true,
  idleMs: true,
  maxRedirects: true,
};

/**
 * Makes a `GET` for endless responses of URLs from strangers, such as Server-Sent Events. Each call and each redirect is judged,
 * resolved and dialled anew, on a connection of its own. To another origin, a redirect takes along only `accept`, `user-agent` and
 * `last-event-id`. A compressed response is an error, because its decoded size would have no bound.
 *
 * The call throws an {@link EgressError} when the destination is denied or the response does not begin, and a `TypeError` for a
 * header that is not allowed.
 *
 * @throws {TypeError} when an option is unknown
 * @example
 * import { guardedStream } from '@svc/egress-guard/stream';
 *
 * const open = guardedStream({ idleMs: 90_000 });
 * const { body } = await open('https://events.example/', { headers: { accept: 'text/event-stream' } });
 * for await (const chunk of body) console.log(chunk.length);
 */
export function guardedStream(options: GuardedStreamOptions = {}): GuardedStream {
  requireKnown('guardedStream', options, GUARDED_STREAM_OPTIONS);
  const { openTimeoutMs = 30_000, idleMs = 60_000, maxRedirects = 5, ...guardOptions } = options;
  const guard = new Guard('guardedStream', guardOptions);

  return async (input, { headers = {}, signal } = {}) => {
    checkRequestHeaders(headers);
    const deadline = new Deadline(openTimeoutMs, signal);
    try {
      return await follow(String(input), headers, deadline, signal);
    } finally {
      deadline.close();
    }
  };

  async function follow(
    first: string,
    headers: Readonly<Record<string, string>>,
    deadline: Deadline,
    signal: AbortSignal | undefined,
  ): Promise<StreamedResponse> {
    let [next, sent] = [first, headers];
    for (let redirects = 0; ; redirects += 1) {
      const url = guard.check(next);
      const reading = await begin(url, sent, deadline);
      const target = redirectTarget(reading, url);
      if (target === undefined) return responseOf(reading, url, signal);
      reading.close();
      if (redirects === maxRedirects) throw new EgressError('redirect_refused', 'too-many-redirects');
      if (!isSameOrigin(target, url.href)) sent = withoutCredentials(sent);
      next = target;
    }
  }

  async function begin(
    url: CheckedUrl,
    headers: Readonly<Record<string, string>>,
    deadline: Deadline,
  ): Promise<StreamReading> {
    const bytes = requestBytes({
      method: 'GET',
      host: requestHost(url),
      path: requestTarget(url),
      headers: { 'accept-encoding': 'identity', ...headers },
      body: undefined,
    });
    const reading = new StreamReading(await guard.open(url, deadline), idleMs);
    await reading.begin(bytes, deadline);
    return reading;
  }
}

/** Any header of the caller may be a credential, so that only known ones follow to another origin. */
function withoutCredentials(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => /^(?:accept|user-agent|last-event-id)$/i.test(name)),
  );
}

function responseOf(reading: StreamReading, url: CheckedUrl, signal: AbortSignal | undefined): StreamedResponse {
  const headers = new Headers();
  for (const [name, value] of Object.entries(reading.headers)) {
    for (const one of [value].flat()) if (one !== undefined) headers.append(name, one);
  }
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (coding !== 'identity') {
    reading.close();
    throw new EgressError('response_encoded', 'content-encoding');
  }
  reading.endWith(signal);
  return { status: reading.status, headers, url: url.href, body: reading.body(), close: () => reading.close() };
}
