import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { Client, Dispatcher } from 'undici';
import { EgressError } from '../errors.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { requestTarget } from '../url.ts';
import { Deadline } from './deadline.ts';
import { DESTINATION_OPTIONS, Guard, type GuardOptions } from './guard.ts';

export type { Network } from './network.ts';

/** The options of {@link guardedDispatcher}. */
export interface GuardedDispatcherOptions extends Pick<GuardOptions, 'policy' | 'resolver' | 'network'> {
  /** The largest response body in bytes. Default 10 485 760. */
  readonly maxResponseBytes?: number;
  /** The deadline in milliseconds for resolution, connection, TLS, headers and body together. Default 30 000. */
  readonly timeoutMs?: number;
}

const GUARDED_DISPATCHER_OPTIONS: OptionNames<GuardedDispatcherOptions> = {
  ...DESTINATION_OPTIONS,
  maxResponseBytes: true,
  timeoutMs: true,
};

/**
 * Makes an undici dispatcher for URLs from strangers: `request(url, { dispatcher })` and `fetch(url, { dispatcher })`
 * of the package `undici`. Each request is judged, resolved and dialled anew, and so is each redirect that `fetch`
 * follows. Connections are not kept. A compressed response is an error, because its decoded size would escape the
 * limit.
 *
 * Requests fail with an {@link EgressError}; `fetch` wraps it as the `cause` of its TypeError.
 *
 * @example
 * import { guardedDispatcher } from '@svc/egress-guard/dispatcher';
 * import { request } from 'undici';
 *
 * const dispatcher = guardedDispatcher();
 * const { statusCode, body } = await request('https://hooks.example/', { dispatcher });
 * console.log(statusCode, await body.text());
 */
export function guardedDispatcher(options: GuardedDispatcherOptions = {}): Dispatcher {
  requireKnown('guardedDispatcher', options, GUARDED_DISPATCHER_OPTIONS);
  return new GuardedDispatcher(options);
}

class GuardedDispatcher extends Dispatcher {
  readonly #guard: Guard;
  readonly #maxResponseBytes: number;
  readonly #timeoutMs: number;
  readonly #running = new Set<GuardedHandler>();
  #isClosed = false;
  #whenIdle: (() => void)[] = [];

  constructor({ maxResponseBytes = 10_485_760, timeoutMs = 30_000, ...options }: GuardedDispatcherOptions) {
    super();
    this.#guard = new Guard('guardedDispatcher', options);
    this.#maxResponseBytes = maxResponseBytes;
    this.#timeoutMs = timeoutMs;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const deadline = new Deadline(this.#timeoutMs, signalOf(options));
    // The content-length of a response to HEAD describes a body that is not sent.
    const maxBytes = options.method === 'HEAD' ? Number.POSITIVE_INFINITY : this.#maxResponseBytes;
    const guarded = new GuardedHandler(handler, maxBytes, deadline, () => this.#settled(guarded));
    this.#running.add(guarded);
    const started = this.#isClosed
      ? Promise.reject(new Error('The dispatcher is closed. Create another one.'))
      : this.#start(options, guarded, deadline);
    started.catch((error: unknown) => guarded.fail(asError(error)));
    return true;
  }

  /** Rejects new requests, and waits for the running ones. */
  override close(): Promise<void>;
  override close(callback: () => void): void;
  override close(callback?: () => void): Promise<void> | undefined {
    this.#isClosed = true;
    const idle = new Promise<void>((resolve) => {
      if (this.#running.size === 0) resolve();
      else this.#whenIdle.push(resolve);
    });
    return answered(idle, callback);
  }

  /** Rejects new requests, and ends the running ones. */
  override destroy(): Promise<void>;
  override destroy(error: Error | null): Promise<void>;
  override destroy(callback: () => void): void;
  override destroy(error: Error | null, callback: () => void): void;
  override destroy(first?: Error | null | (() => void), second?: () => void): Promise<void> | undefined {
    this.#isClosed = true;
    const error = first instanceof Error ? first : new Error('The dispatcher was destroyed.');
    for (const handler of [...this.#running]) handler.fail(error);
    return answered(Promise.resolve(), typeof first === 'function' ? first : second);
  }

  #settled(handler: GuardedHandler): void {
    this.#running.delete(handler);
    if (this.#running.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  async #start(options: Dispatcher.DispatchOptions, handler: GuardedHandler, deadline: Deadline): Promise<void> {
    const { origin, path } = options;
    if (origin === undefined || !path.startsWith('/')) {
      throw new TypeError('path: must begin with a slash, after an origin. Pass an absolute URL.');
    }
    const url = this.#guard.check(new URL(String(origin)).origin + path);
    const headers = withoutReserved(options.headers);
    const socket = await this.#guard.open(url, deadline);
    let isTaken = false;
    const client = new Client(new URL(url.href).origin, {
      connect: (_options, callback) => {
        const first = !isTaken;
        isTaken = true;
        queueMicrotask(() => (first ? callback(null, socket) : callback(new ConnectionTaken(), null)));
      },
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: 16_384,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    handler.onSettled = () => {
      deadline.close();
      void client.destroy().catch(() => {});
      socket.destroy();
    };
    if (handler.isSettled) return handler.onSettled();
    deadline.onEnd((error) => handler.fail(error));
    client.dispatch(
      { ...options, path: requestTarget(url), headers: [...headers, 'accept-encoding', 'identity'], reset: true },
      handler,
    );
  }
}

/** Undici asked for a second connection, which would go to an address that was not judged. */
class ConnectionTaken extends Error {
  constructor() {
    super('The connection was closed before the request was sent.');
    this.name = 'ConnectionTaken';
  }
}

/** Reports the end as undici does: by a promise, or by a callback instead of it. */
function answered(done: Promise<void>, callback: (() => void) | undefined): Promise<void> | undefined {
  if (callback === undefined) return done;
  void done.then(callback);
  return undefined;
}

/** Passes a response on while it keeps its limits. */
class GuardedHandler implements Dispatcher.DispatchHandler {
  readonly #inner: Dispatcher.DispatchHandler;
  readonly #maxBytes: number;
  readonly #deadline: Deadline;
  readonly #onDone: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #size = 0;
  #informational = 0;
  #isSettled = false;
  /** Closes the connection; it is set once there is one. */
  onSettled: () => void = () => {};

  constructor(inner: Dispatcher.DispatchHandler, maxBytes: number, deadline: Deadline, onDone: () => void) {
    this.#inner = inner;
    this.#onDone = onDone;
    this.#maxBytes = maxBytes;
    this.#deadline = deadline;
  }

  /** Fails the request. Only the first call has an effect. */
  fail(error: Error): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    // Ends a resolution or connection attempt that is still running.
    this.#deadline.cancel();
    this.#deadline.close();
    this.onSettled();
    this.#onDone();
    this.#inner.onResponseError?.(this.#controller ?? ENDED, error);
  }

  /** Whether the request has succeeded or failed. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#controller = controller;
    this.#inner.onRequestStart?.(controller, context);
  }

  onRequestUpgrade(
    _controller: Dispatcher.DispatchController,
    _status: number,
    _headers: IncomingHttpHeaders,
    socket: Duplex,
  ): void {
    socket.destroy();
    this.fail(new EgressError('protocol_error', 'upgrade'));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
    statusMessage?: string,
  ): void {
    if (status < 200) {
      this.#informational += 1;
      if (this.#informational > 16) this.#refuse(new EgressError('protocol_error', 'informational'));
      return;
    }
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
      this.#refuse(new EgressError('response_encoded', 'content-encoding'));
    } else if (Number(headers['content-length'] ?? 0) > this.#maxBytes) {
      this.#refuse(new EgressError('response_too_large', 'response-bytes'));
    } else if (!this.#isSettled) this.#inner.onResponseStart?.(controller, status, headers, statusMessage);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return;
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) this.#refuse(new EgressError('response_too_large', 'response-bytes'));
    else this.#inner.onResponseData?.(controller, chunk);
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: IncomingHttpHeaders): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.onSettled();
    this.#onDone();
    this.#inner.onResponseEnd?.(controller, trailers);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(
      EgressError.is(error) || isAbort(error) ? error : new EgressError('protocol_error', 'protocol', { cause: error }),
    );
  }

  #refuse(error: EgressError): void {
    this.fail(error);
  }
}

/** The controller for a handler whose request has not started. */
const ENDED: Dispatcher.DispatchController = {
  aborted: true,
  paused: false,
  reason: null,
  abort: () => {},
  pause: () => {},
  resume: () => {},
};

/** Finds the signal that `request()` passes along. Undici itself observes it only after the request has started. */
function signalOf(options: object): AbortSignal | undefined {
  return 'signal' in options && options.signal instanceof AbortSignal ? options.signal : undefined;
}

const RESERVED =
  /^(?:host|connection|transfer-encoding|keep-alive|upgrade|te|trailer|expect|accept-encoding|proxy-.*)$/i;

/**
 * Returns the headers as a flat list. Reserved headers are omitted, because undici's clients set some of them; `host`
 * is an error.
 */
function withoutReserved(headers: Dispatcher.DispatchOptions['headers']): string[] {
  const list: string[] = [];
  for (const [name, value] of pairsOf(headers)) {
    if (/^host$/i.test(name)) throw new TypeError('Header "host": is set by the guard. Leave it out.');
    if (!RESERVED.test(name)) list.push(name, value);
  }
  return list;
}

function pairsOf(headers: Dispatcher.DispatchOptions['headers']): [string, string][] {
  if (headers === undefined || headers === null) return [];
  if (Array.isArray(headers) && headers.every((one) => typeof one === 'string')) {
    return headers.flatMap((name, index): [string, string][] =>
      index % 2 === 0 ? [[name, headers[index + 1] ?? '']] : [],
    );
  }
  const entries: Iterable<unknown> = Symbol.iterator in headers ? headers : Object.entries(headers);
  return [...entries].flatMap((entry): [string, string][] => {
    if (!Array.isArray(entry))
      throw new TypeError('headers: must be pairs of a name and a value. Pass a record or a list of pairs.');
    return [entry[1]]
      .flat()
      .flatMap((value): [string, string][] => (value === undefined ? [] : [[String(entry[0]), String(value)]]));
  });
}

function isAbort(error: Error): boolean {
  return error.name === 'AbortError';
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
