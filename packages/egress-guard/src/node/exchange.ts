import { EgressError } from '../errors.ts';
import type { Connection, ConnectionReader } from './connection.ts';
import type { Deadline } from './deadline.ts';
import { requestBytes } from './request-bytes.ts';
import { type ResponseEvents, type ResponseHeaders, ResponseParser } from './response-parser.ts';

/** A request over an open connection. */
export interface ExchangeRequest {
  /** The method. */
  readonly method: string;
  /** The host and port of a checked URL, for the header `host`. */
  readonly host: string;
  /** The path and query of a checked URL. */
  readonly path: string;
  /** The headers, already checked. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, text as UTF-8; undefined for none. */
  readonly body: Uint8Array | string | undefined;
  /** The largest response body in bytes, before decoding. */
  readonly maxResponseBytes: number;
  /** The treatment of a longer response: `leave` drops its body, `fail` makes it an error. */
  readonly whenLonger: 'leave' | 'fail';
  /** Returns how many bytes of the body of a response with a status are kept. */
  readonly keptBytes: (status: number) => number;
  /** Called when the request begins, and when its response begins. */
  readonly onPhase?: ((phase: 'request' | 'response') => void) | undefined;
}

/** The response of an exchange. */
export interface ExchangeResponse {
  /** The status. */
  readonly status: number;
  /** The headers. */
  readonly headers: ResponseHeaders;
  /** The chunks of the body, as far as it was kept. */
  readonly body: readonly Uint8Array[];
  /** The bytes of the body that were read. */
  readonly size: number;
  /** Whether the response was read to its end. */
  readonly isComplete: boolean;
  /** Whether the connection may serve again: both messages are complete, and the server does not ask to close. */
  readonly mayPersist: boolean;
  /** The time in milliseconds for which the server keeps the idle connection; undefined when it did not say. */
  readonly keepAliveMs: number | undefined;
}

/**
 * The failure of a request on a reused connection before the first byte of a response. The server has most likely just
 * closed the connection.
 */
export class StaleConnection extends Error {
  /** Whether no byte of the request was sent. */
  readonly isUnsent: boolean;

  constructor(isUnsent: boolean, cause?: unknown) {
    super('The connection was closed before the response began.', { cause });
    this.name = 'StaleConnection';
    this.isUnsent = isUnsent;
  }
}

/**
 * Sends one request and reads its response. It follows no redirect and decodes no body. The caller keeps the connection
 * when the response permits it, and discards it otherwise.
 *
 * @throws {EgressError} `timeout`, `aborted`, `response_too_large`, `protocol_error`
 * @throws {StaleConnection} on a connection that was closed
 */
export function exchange(
  connection: Connection,
  request: ExchangeRequest,
  deadline: Deadline,
): Promise<ExchangeResponse> {
  return new Promise((resolve, reject) => {
    const reading = new Reading(connection, request, resolve, reject);
    reading.forget = deadline.onEnd((error) => {
      reading.fail(error);
      connection.destroy();
    });
    if (deadline.ended !== undefined) return;
    request.onPhase?.('request');
    if (!connection.send(requestBytes(request), reading)) reading.fail(new StaleConnection(true));
  });
}

/** Reads one response. */
class Reading implements ConnectionReader, ResponseEvents {
  readonly #connection: Connection;
  readonly #rules: ExchangeRequest;
  readonly #resolve: (response: ExchangeResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #parser: ResponseParser;
  /** Removes the listener from the deadline. */
  forget: () => void = () => {};
  #began = false;
  #status = 0;
  #headers: ResponseHeaders = {};
  readonly #body: Uint8Array[] = [];
  #size = 0;
  #keptBytes = 0;
  #isSettled = false;

  constructor(
    connection: Connection,
    rules: ExchangeRequest,
    resolve: (response: ExchangeResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#connection = connection;
    this.#rules = rules;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#parser = new ResponseParser(rules.method, this);
  }

  onBytes(chunk: Buffer): void {
    this.#began = true;
    try {
      this.#parser.read(chunk);
    } catch (error) {
      this.fail(new EgressError('protocol_error', 'protocol', { cause: error }));
    }
    if (this.#parser.isComplete) this.#succeed(true);
  }

  onEnd(): void {
    // A reused connection without a byte of a response is stale, which its close reports.
    if (!this.#began) return;
    try {
      this.#parser.end();
      this.#succeed(true);
    } catch (error) {
      this.fail(new EgressError('protocol_error', 'protocol', { cause: error }));
    }
  }

  onClose(error: Error | undefined): void {
    if (!this.#began && this.#connection.isReused) this.fail(new StaleConnection(false, error));
    else this.fail(new EgressError('protocol_error', 'protocol', { cause: error }));
  }

  onHead(status: number, headers: ResponseHeaders): void {
    if (this.#isSettled) return;
    this.#rules.onPhase?.('response');
    this.#status = status;
    this.#headers = headers;
    this.#keptBytes = this.#rules.keptBytes(status);
    const { whenLonger, maxResponseBytes } = this.#rules;
    // The beginning of a response that is too long may be kept, when it does not fail.
    const isAwaited = whenLonger === 'leave' && this.#keptBytes > 0 && this.#keptBytes < maxResponseBytes;
    if (this.#parser.bytesLeft > maxResponseBytes && !isAwaited) this.#overflow();
  }

  onBody(bytes: Uint8Array): void {
    if (this.#isSettled) return;
    const left = this.#keptBytes - this.#size;
    this.#size += bytes.length;
    if (left > 0) this.#body.push(bytes.length > left ? bytes.subarray(0, left) : bytes);
    if (this.#size > this.#rules.maxResponseBytes) this.#overflow();
  }

  /** Fails the exchange, unless it has ended. */
  fail(error: unknown): void {
    if (this.#settle()) this.#reject(error);
  }

  #succeed(isComplete: boolean): void {
    if (!this.#settle()) return;
    this.#resolve({
      status: this.#status,
      headers: this.#headers,
      body: this.#body,
      size: this.#size,
      isComplete,
      // A server may answer before it has read the request: the rest of the request would precede the next one.
      mayPersist: isComplete && this.#parser.mayPersist && this.#connection.isSent,
      keepAliveMs: this.#parser.keepAliveMs,
    });
  }

  #overflow(): void {
    if (this.#rules.whenLonger === 'leave') this.#succeed(false);
    else this.fail(new EgressError('response_too_large', 'response-bytes'));
  }

  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.forget();
    this.#connection.release();
    return true;
  }
}
