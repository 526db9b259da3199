import type { AuthError } from './errors.ts';

/** The ports of {@link failureLog}. A test replaces them. */
export interface FailureLogPorts {
  /** Milliseconds since an arbitrary moment. It never goes back. Default: `performance.now()`. */
  readonly monotonic?: () => number;
  /** Writes one line. Default: `console.error`, or nothing in a runtime without a console. */
  readonly write?: (line: string) => void;
}

/**
 * Makes the log of guards without `onError`: one line of JSON for a failure of the host, such as a store of keys that
 * throws, with its message and stack. Of a thrown value that is no `Error` the line has the type alone, because the value may be
 * a secret. A refusal of a caller is not logged. The same failure is written once in 10 s, at most 20 in all.
 */
export function failureLog(ports: FailureLogPorts = {}): (error: AuthError) => void {
  const { monotonic = () => performance.now(), write = (line) => globalThis.console?.error?.(line) } = ports;
  /** When each failure was written. */
  const written = new Map<string, number>();

  return ({ fault, code, reason, cause }) => {
    if (fault !== 'host') return;
    const now = monotonic();
    for (const [failure, at] of written) if (now - at >= QUIET_MS) written.delete(failure);
    const { error, stack } = describe(cause);
    const failure = `${reason} ${error}`;
    if (written.has(failure) || written.size >= MOST_FAILURES) return;
    written.set(failure, now);
    write(JSON.stringify({ level: 'error', event: 'authentication.failed', code, reason, error, stack }));
  };
}

function describe(cause: unknown): { readonly error: string; readonly stack?: string | undefined } {
  if (!(cause instanceof Error)) return { error: `thrown: a value of type ${typeof cause}, which is no Error.` };
  return { error: cause.message.slice(0, MOST_OF_MESSAGE), stack: cause.stack?.slice(0, MOST_OF_STACK) };
}

const QUIET_MS = 10_000;
const MOST_FAILURES = 20;
const MOST_OF_MESSAGE = 1000;
const MOST_OF_STACK = 4000;
