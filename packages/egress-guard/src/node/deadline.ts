import { EgressError } from '../errors.ts';

/**
 * The deadline of a call, for resolution, connection, TLS, headers and body together, combined with the caller's
 * signal.
 */
export class Deadline {
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal | undefined;
  readonly #listeners = new Set<(error: EgressError) => void>();
  #ended: EgressError | undefined;

  /** @param outer the signal of the caller */
  constructor(timeoutMs: number, outer: AbortSignal | undefined) {
    this.#timer = setTimeout(() => this.#end(new EgressError('timeout', 'deadline')), timeoutMs);
    this.#outer = outer;
    outer?.addEventListener('abort', this.#abort, { once: true });
    if (outer?.aborted) this.#abort();
  }

  /** The error that ended the call; undefined before. */
  get ended(): EgressError | undefined {
    return this.#ended;
  }

  /** Throws the error that ended the call, if it has ended. @throws {EgressError} `timeout`, `aborted` */
  throwIfEnded(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  /** Calls the listener at the end, or now when the call has ended. @returns a function that removes the listener */
  onEnd(listener: (error: EgressError) => void): () => void {
    if (this.#ended !== undefined) listener(this.#ended);
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stops listening to the caller's signal: from here on the caller ends its own socket. */
  forgetSignal(): void {
    this.#outer?.removeEventListener('abort', this.#abort);
  }

  /** Ends the call now with `aborted`. */
  cancel(): void {
    this.#abort();
  }

  /** Stops the timer and removes every listener, after the call. */
  close(): void {
    clearTimeout(this.#timer);
    this.forgetSignal();
    this.#listeners.clear();
  }

  readonly #abort = (): void => this.#end(new EgressError('aborted', 'signal', { cause: this.#outer?.reason }));

  #end(error: EgressError): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    for (const listener of this.#listeners) listener(error);
    this.#listeners.clear();
  }
}
