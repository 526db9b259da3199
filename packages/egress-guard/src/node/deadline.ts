import { EgressError } from '../errors.ts';

/**
 * The one wall-clock bound of a call, over resolution, connection, TLS, headers and body, together with the caller's own signal.
 * It is cheap while nothing ends: the `AbortSignal` is made when somebody asks for one.
 */
export class Deadline {
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal | undefined;
  readonly #listeners = new Set<(error: EgressError) => void>();
  #controller: AbortController | undefined;
  #ended: EgressError | undefined;

  constructor(timeoutMs: number, outer: AbortSignal | undefined) {
    this.#timer = setTimeout(() => this.#end(new EgressError('timeout', 'deadline')), timeoutMs);
    this.#outer = outer;
    outer?.addEventListener('abort', this.#abort, { once: true });
    if (outer?.aborted) this.#abort();
  }

  get ended(): EgressError | undefined {
    return this.#ended;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#ended !== undefined) this.#controller.abort(this.#ended);
    return this.#controller.signal;
  }

  /** @throws {EgressError} `timeout`, `aborted` */
  throwIfEnded(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  /** Calls back at the end, at once if it has come. Returns how to forget about it. */
  onEnd(listener: (error: EgressError) => void): () => void {
    if (this.#ended !== undefined) listener(this.#ended);
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Settles as the promise does, or rejects at the end, whichever comes first. */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const forget = this.onEnd(reject);
      promise.then(resolve, reject).finally(forget);
    });
  }

  /** From here on the time alone counts: whoever gave the signal ends things by themselves. */
  forgetSignal(): void {
    this.#outer?.removeEventListener('abort', this.#abort);
  }

  /** Ends everything now, as if the caller had given up. */
  cancel(): void {
    this.#abort();
  }

  /** The call is over; nothing is left that could fire. */
  close(): void {
    clearTimeout(this.#timer);
    this.forgetSignal();
    this.#listeners.clear();
  }

  readonly #abort = (): void => this.#end(new EgressError('aborted', 'signal', { cause: this.#outer?.reason }));

  #end(error: EgressError): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    this.#controller?.abort(error);
    for (const listener of this.#listeners) listener(error);
    this.#listeners.clear();
  }
}
