import { AsyncLocalStorage } from 'node:async_hooks';
import process from 'node:process';

/**
 * The rejections of some code that nothing has handled. Node ends the process for one such rejection, and with it every
 * run of the host. Here it is noted for the code that it comes from, however deep in its promises.
 *
 * A rejection that is handled late, as in `const a = fails(); await other(); await a`, is then no longer noted.
 */
export class UnhandledRejections {
  readonly #noted = new Map<Promise<unknown>, unknown>();
  readonly #heard: ((reason: unknown) => void) | undefined;
  /** The scope around this one. Code that is heard by itself has none: a run may have started within another. */
  readonly #outer: UnhandledRejections | undefined;
  #told = 0;

  /**
   * @param heard is called for the first hundred rejections that nothing handles when they come, also after the end of the
   * code. Without it the scope around this one is told
   */
  constructor(heard?: (reason: unknown) => void) {
    this.#heard = heard;
    this.#outer = heard === undefined ? scopes.getStore() : undefined;
  }

  /** Calls the code whose rejections are noted here. */
  within<T>(code: () => T): T {
    listen();
    return scopes.run(this, code);
  }

  /** The first rejection that is still unhandled. A rejection is noted when the event loop has turned. */
  get first(): { readonly reason: unknown } | undefined {
    for (const reason of this.#noted.values()) return { reason };
    return undefined;
  }

  note(promise: Promise<unknown>, reason: unknown): void {
    if (this.#noted.size < MOST) this.#noted.set(promise, reason);
    if (++this.#told <= MOST) this.#heard?.(reason);
    this.#outer?.note(promise, reason);
  }

  handled(promise: Promise<unknown>): void {
    this.#noted.delete(promise);
    this.#outer?.handled(promise);
  }
}

/** The most rejections that are noted at a time, and told in all. */
const MOST = 100;

const scopes = new AsyncLocalStorage<UnhandledRejections>();

/** The scope that noted a rejection. Node tells of a late handler outside of every scope. */
const noting = new WeakMap<Promise<unknown>, UnhandledRejections>();

/** The listeners stay: code may reject long after it has ended. */
let isListening = false;

function listen(): void {
  if (isListening) return;
  isListening = true;
  process.on('unhandledRejection', onUnhandled);
  process.on('rejectionHandled', (promise) => noting.get(promise)?.handled(promise));
}

function onUnhandled(reason: unknown, promise: Promise<unknown>): void {
  const scope = scopes.getStore();
  if (scope !== undefined) {
    noting.set(promise, scope);
    scope.note(promise, reason);
    return;
  }
  // A rejection of other code ends the process, as it does without this listener.
  if (process.listenerCount('unhandledRejection') === 1 && !isAllowed()) throw reason;
}

/** Whether the process was started so that an unhandled rejection does not end it. */
function isAllowed(): boolean {
  const options = `${process.env['NODE_OPTIONS'] ?? ''} ${process.execArgv.join(' ')}`;
  return /--unhandled-rejections[= ](?:none|warn)/.test(options);
}
