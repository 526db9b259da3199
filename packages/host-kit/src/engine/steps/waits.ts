/** The waits of a workflow, and whether it awaits them. A question that nothing awaits would be skipped in silence. */
export class Waits {
  readonly #open = new Map<Wait<unknown>, TypeError>();

  /** Makes the promise that the workflow gets for a wait. */
  awaited<T>(call: string, name: string, wait: Promise<T>): Promise<T> {
    const promise = new Wait<T>((resolve, reject) => wait.then(resolve, reject));
    // Made here, so that its stack shows the call.
    const message = `${call} ${name}: the workflow ended without awaiting it. Write \`await\` before \`${call}\`.`;
    this.#open.set(promise, new TypeError(message));
    const close = () => this.#open.delete(promise);
    wait.then(close, close);
    return promise;
  }

  /** The first wait that is under way and that nothing has awaited. */
  get forgotten(): TypeError | undefined {
    for (const [wait, error] of this.#open) if (!wait.isAwaited) return error;
    return undefined;
  }
}

/** Knows whether something has awaited it. `Promise.race` and its like do. */
class Wait<T> extends Promise<T> {
  isAwaited = false;

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // biome-ignore lint/suspicious/noThenProperty: a promise that notes who awaits it
  override then<A = T, B = never>(
    fulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isAwaited = true;
    return super.then(fulfilled, rejected);
  }
}
