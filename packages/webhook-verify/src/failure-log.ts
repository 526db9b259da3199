import type { Delivery } from './delivery.ts';

/** A failure of a receiver, for its operator. */
export interface Failure {
  /** A sentence: the part that failed, and the result for the sender. */
  readonly message: string;
  /** The value that was thrown. */
  readonly error: unknown;
  /** The delivery that was handled. Undefined: there was none yet. */
  readonly delivery?: Delivery | undefined;
}

/** The ports of {@link failureLog}. A test replaces them. */
export interface FailureLogPorts {
  /** Milliseconds since an arbitrary moment. It never goes back. Default: `performance.now()`. */
  readonly monotonic?: () => number;
  /** Writes one line. Default: `console.error`, or nothing in a runtime without a console. */
  readonly write?: (line: string) => void;
}

/**
 * Makes the log of a receiver without `onFailed`: one line of JSON for a failure, with the message and the stack of the
 * error. The line has no payload, header or secret, and of a thrown value that is no `Error` only the type. The same
 * failure is written once in 10 s. The next line of it has the number of those left out in `suppressed`.
 */
export function failureLog(ports: FailureLogPorts = {}): (failure: Failure) => void {
  const { monotonic = () => performance.now(), write = toConsole } = ports;
  const causes = new Map<string, Cause>();

  return ({ message, error, delivery }) => {
    const described = describe(error);
    const now = monotonic();
    const name = nameOf(`${message} ${described.error}`, now);
    const cause = causes.get(name);
    if (cause !== undefined && now - cause.writtenAt < QUIET_MS) {
      cause.suppressed += 1;
      return;
    }
    causes.set(name, { writtenAt: now, suppressed: 0 });
    const line = {
      ...{ level: 'error', event: 'receiver.failed', message, ...described },
      ...(delivery && { eventType: cut(delivery.eventType, MOST_OF_ID), runId: cut(delivery.runId, MOST_OF_ID) }),
      ...(cause !== undefined && cause.suppressed > 0 && { suppressed: cause.suppressed }),
    };
    write(JSON.stringify(line));
  };

  /** An error that quotes its input makes a cause for each input. Above a bound, all further ones count as one. */
  function nameOf(name: string, now: number): string {
    if (causes.has(name) || causes.size < MOST_CAUSES) return name;
    for (const [known, { writtenAt }] of causes) if (now - writtenAt >= QUIET_MS) causes.delete(known);
    return causes.size < MOST_CAUSES ? name : OTHER_CAUSES;
  }
}

interface Cause {
  readonly writtenAt: number;
  /** The number of lines that were left out since. */
  suppressed: number;
}

/** Of another value than an `Error` only the type is named, because the value might be a secret. */
function describe(error: unknown): { readonly error: string; readonly stack?: string } {
  if (!(error instanceof Error)) return { error: typeof error };
  const { message, stack } = error;
  return { error: cut(message, MOST_OF_MESSAGE), ...(stack !== undefined && { stack: cut(stack, MOST_OF_STACK) }) };
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

function toConsole(line: string): void {
  globalThis.console?.error?.(line);
}

const QUIET_MS = 10_000;
const MOST_CAUSES = 20;
const OTHER_CAUSES = '';
const MOST_OF_ID = 200;
const MOST_OF_MESSAGE = 1000;
const MOST_OF_STACK = 4000;
