import type { Deadline } from './deadline.ts';
import type { Resolver } from './resolve.ts';

/**
 * Resolves names for calls. Calls that begin in the same turn of the event loop share one query for a name while it is
 * under way. An answer serves only the calls that waited for it, so each call is judged by an answer to a query that began
 * with it. A query ends early when all of its calls have ended.
 */
export class Resolutions {
  readonly #resolver: Resolver;
  /** The queries that began in this turn and are under way. */
  readonly #queries = new Map<string, Query>();

  constructor(resolver: Resolver) {
    this.#resolver = resolver;
  }

  /** Resolves a name. Rejects with the failure of the query, or with the error that ended the call. */
  resolve(hostname: string, deadline: Deadline): Promise<readonly string[]> {
    let query = this.#queries.get(hostname);
    if (query === undefined || query.isOver) {
      if (this.#queries.size === 0) setImmediate(() => this.#queries.clear());
      query = new Query(this.#resolver, hostname);
      this.#queries.set(hostname, query);
    }
    return query.answerFor(deadline);
  }
}

/** One query, for one call or more. */
class Query {
  readonly #answers: Promise<readonly string[]>;
  #controller: AbortController | undefined;
  #waiting = 0;
  #aborted: unknown;
  #isAnswered = false;

  constructor(resolver: Resolver, hostname: string) {
    const signal = () => this.#signal();
    // The signal is made on first use: most resolvers answer before a call ends.
    const options = {
      get signal() {
        return signal();
      },
    };
    try {
      this.#answers = Promise.resolve(resolver.resolve(hostname, options));
    } catch (error) {
      this.#answers = Promise.reject(error);
    }
  }

  /** Whether it was answered, or every call for it has ended before that. */
  get isOver(): boolean {
    return this.#isAnswered || this.#aborted !== undefined;
  }

  answerFor(deadline: Deadline): Promise<readonly string[]> {
    this.#waiting += 1;
    return new Promise((resolve, reject) => {
      const forget = deadline.onEnd((error) => {
        reject(error);
        this.#leave(error);
      });
      this.#answers.then(
        (answers) => {
          this.#isAnswered = true;
          forget();
          resolve(answers);
        },
        (error: unknown) => {
          this.#isAnswered = true;
          forget();
          reject(error);
        },
      );
    });
  }

  #leave(error: unknown): void {
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    this.#aborted = error;
    this.#controller?.abort(error);
  }

  #signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    return this.#controller.signal;
  }
}
