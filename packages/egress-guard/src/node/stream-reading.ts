import type { Socket } from 'node:net';
import { EgressError } from '../errors.ts';
import type { Deadline } from './deadline.ts';
import { type ResponseEvents, type ResponseHeaders, ResponseParser } from './response-parser.ts';

/** Reads one response over a connection of its own, as far ahead of its caller as `MOST_AHEAD_BYTES`. */
export class StreamReading implements ResponseEvents {
  readonly #socket: Socket;
  readonly #idleMs: number;
  readonly #parser: ResponseParser;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #status = 0;
  #headers: ResponseHeaders = {};
  #error: EgressError | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** Ends the wait for the head, or for the next chunk. */
  #wake: () => void = () => {};
  #forgetSignal: () => void = () => {};

  constructor(socket: Socket, idleMs: number) {
    this.#socket = socket;
    this.#idleMs = idleMs;
    this.#parser = new ResponseParser('GET', this);
  }

  /** The status. 0 before the head is read. */
  get status(): number {
    return this.#status;
  }

  /** The headers. */
  get headers(): ResponseHeaders {
    return this.#headers;
  }

  /** Sends the request, and resolves when the head of the response is read. @throws {EgressError} */
  async begin(request: Uint8Array, deadline: Deadline): Promise<void> {
    this.#socket
      .on('data', (chunk: Buffer) => this.#read(chunk))
      .on('end', () => this.#ended())
      .on('error', (error) => this.#fail(new EgressError('protocol_error', 'closed', { cause: error })))
      .on('close', () => this.#fail(new EgressError('protocol_error', 'closed')));
    const forget = deadline.onEnd((error) => this.#fail(error));
    try {
      this.#socket.write(request);
      while (this.#status === 0 && this.#error === undefined) await this.#woken();
      if (this.#error !== undefined) throw this.#error;
    } finally {
      forget();
    }
  }

  /** Ends the response when the signal aborts. */
  endWith(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    const abort = () => this.#fail(new EgressError('aborted', 'signal', { cause: signal.reason }));
    this.#forgetSignal = () => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  }

  /** The chunks of the body. @throws {EgressError} when the response does not end in order */
  async *body(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#bytes -= chunk.length;
          yield chunk;
        } else if (this.#error !== undefined) throw this.#error;
        else if (this.#parser.isComplete) return;
        else await this.#next();
      }
    } finally {
      this.close();
    }
  }

  /** Closes the connection. */
  close(): void {
    clearTimeout(this.#idle);
    this.#forgetSignal();
    this.#socket.destroy();
  }

  onHead(status: number, headers: ResponseHeaders): void {
    this.#status = status;
    this.#headers = headers;
    this.#wake();
  }

  onBody(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes > MOST_AHEAD_BYTES) this.#socket.pause();
    this.#wake();
  }

  /** Waits for the next chunk. The time counts only here: a caller that is slow does not make the server idle. */
  async #next(): Promise<void> {
    const timer = setTimeout(() => this.#fail(new EgressError('timeout', 'idle')), this.#idleMs);
    this.#idle = timer;
    this.#socket.resume();
    await this.#woken();
    clearTimeout(timer);
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #read(chunk: Buffer): void {
    if (this.#error !== undefined || this.#parser.isComplete) return;
    try {
      this.#parser.read(chunk);
    } catch (error) {
      this.#fail(new EgressError('protocol_error', 'protocol', { cause: error }));
    }
    if (this.#parser.isComplete) this.#finish();
  }

  #ended(): void {
    if (this.#error !== undefined || this.#parser.isComplete) return;
    try {
      this.#parser.end();
      this.#finish();
    } catch (error) {
      this.#fail(new EgressError('protocol_error', 'protocol', { cause: error }));
    }
  }

  /** The chunks that were read stay. */
  #finish(): void {
    this.#socket.destroy();
    this.#wake();
  }

  #fail(error: EgressError): void {
    if (this.#error !== undefined || this.#parser.isComplete) return;
    this.#error = error;
    this.#socket.destroy();
    this.#wake();
  }
}

const MOST_AHEAD_BYTES = 65_536;
