import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { EgressError } from '../errors.ts';
import { type Connection, ConnectionGone } from './connection.ts';
import type { Deadline } from './deadline.ts';

/** A request over an open connection. */
export interface ExchangeRequest {
  /** The method. */
  readonly method: Dispatcher.HttpMethod;
  /** The path and query of a checked URL. */
  readonly path: string;
  /** The headers, already checked. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body; undefined for none. */
  readonly body: Uint8Array | undefined;
  /** The largest response body in bytes, before decoding. */
  readonly maxResponseBytes: number;
  /** The treatment of a longer response: `leave` drops its body, `fail` makes it an error. */
  readonly whenLonger: 'leave' | 'fail';
  /** Whether the body of the response is kept. */
  readonly keepsBody: boolean;
  /** Called when the request begins, and when its response begins. */
  readonly onPhase?: ((phase: 'request' | 'response') => void) | undefined;
}

/** The response of an exchange. */
export interface ExchangeResponse {
  /** The status. */
  readonly status: number;
  /** The headers. */
  readonly headers: IncomingHttpHeaders;
  /** The chunks of the body; empty when it was not kept. */
  readonly body: readonly Uint8Array[];
  /** Whether the response was read to its end, so that the connection may serve again. */
  readonly isComplete: boolean;
}

/**
 * The failure of a request on a reused connection before the first byte of a response. The server has most likely just
 * closed the connection.
 */
export class StaleConnection extends Error {
  /** Whether no byte of the request was sent. */
  readonly isUnsent: boolean;

  constructor(cause: unknown, isUnsent: boolean) {
    super('The connection was closed before the response began.', { cause });
    this.name = 'StaleConnection';
    this.isUnsent = isUnsent;
  }
}

/**
 * Sends one request and reads its response. It follows no redirect and decodes no body. The caller releases the
 * connection after a complete response, and discards it otherwise.
 *
 * @throws {EgressError} `timeout`, `aborted`, `response_too_large`, `protocol_error`
 * @throws {StaleConnection} on a connection that was reused
 */
export function exchange(
  connection: Connection,
  { method, path, headers, body, ...rules }: ExchangeRequest,
  deadline: Deadline,
): Promise<ExchangeResponse> {
  return new Promise((resolve, reject) => {
    const reading = new Reading(rules, resolve, reject, connection);
    reading.forget = deadline.onEnd((error) => {
      reading.fail(error);
      // Undici cannot end a request in every state by a signal; destroying the connection can.
      connection.destroy();
    });
    if (deadline.ended === undefined) {
      rules.onPhase?.('request');
      connection.dispatch({ method, path, headers, body: body ?? null }, reading);
    }
  });
}

/** More 1xx responses than any honest server sends. Without a limit, endless ones would last until the deadline. */
const MAX_INFORMATIONAL = 16;

type ReadingRules = Pick<ExchangeRequest, 'maxResponseBytes' | 'whenLonger' | 'keepsBody' | 'onPhase'>;

/** Reads one response. */
class Reading implements Dispatcher.DispatchHandler {
  readonly #rules: ReadingRules;
  readonly #resolve: (response: ExchangeResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #connection: Connection;
  /** Removes the listener from the deadline. */
  forget: () => void = () => {};
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #body: Uint8Array[] = [];
  #size = 0;
  #informational = 0;
  #isSettled = false;

  constructor(
    rules: ReadingRules,
    resolve: (response: ExchangeResponse) => void,
    reject: (error: unknown) => void,
    connection: Connection,
  ) {
    this.#rules = rules;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#connection = connection;
  }

  onRequestStart(): void {}

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) {
      this.#informational += 1;
      if (this.#informational > MAX_INFORMATIONAL)
        controller.abort(new Error('The server sent too many informational responses.'));
      return;
    }
    this.#rules.onPhase?.('response');
    this.#status = status;
    this.#headers = headers;
    if (Number(headers['content-length'] ?? 0) > this.#rules.maxResponseBytes) this.#overflow(controller);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.#rules.maxResponseBytes) this.#overflow(controller);
    else if (this.#rules.keepsBody) this.#body.push(chunk);
  }

  onResponseEnd(): void {
    this.#succeed(true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const began = this.#status !== 0 || this.#informational > 0;
    if (error instanceof ConnectionGone) this.fail(new StaleConnection(error, true));
    else if (!began && this.#connection.isReused && isClosed(error)) this.fail(new StaleConnection(error, false));
    else this.fail(new EgressError('protocol_error', 'protocol', { cause: error }));
  }

  /** Fails the exchange, unless it has ended. */
  fail(error: unknown): void {
    if (this.#settle()) this.#reject(error);
  }

  #succeed(isComplete: boolean): void {
    if (!this.#settle()) return;
    this.#resolve({ status: this.#status, headers: this.#headers, body: this.#body, isComplete });
  }

  #overflow(controller: Dispatcher.DispatchController): void {
    if (this.#rules.whenLonger === 'leave') this.#succeed(false);
    else this.fail(new EgressError('response_too_large', 'response-bytes'));
    controller.abort(new Error('The response exceeds the size limit.'));
  }

  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.forget();
    return true;
  }
}

const CLOSED: ReadonlySet<unknown> = new Set([
  'UND_ERR_SOCKET',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
  'ECONNRESET',
  'EPIPE',
]);

function isClosed(error: Error): boolean {
  return 'code' in error && CLOSED.has(error.code);
}
