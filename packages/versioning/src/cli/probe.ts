import { VERSION_HEADER } from '../headers.ts';
import { type Major, majorOf, parseVersion } from '../version.ts';
import { type Terminal, UsageError } from './terminal.ts';

/** Sends a request to the probed host, and returns the answer. */
export type Ask = (path: string, headers?: Readonly<Record<string, string>>, method?: string) => Promise<Answer>;

/** An answer of the probed host. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The members of the body. Empty when it is no JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** A rule, and whether the host keeps it. */
export interface Finding {
  readonly rule: string;
  readonly ok: boolean;
  /** The contradiction. Empty when the rule is kept. */
  readonly note: string;
}

/** Makes the sender of probes. It throws `UsageError` when the host does not answer. */
export function asker(origin: string, timeoutMs: number, fetch: Terminal['fetch']): Ask {
  return async (path, headers = {}, method = 'GET') => {
    const request = new Request(origin + path, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const response = await fetch(request).catch((error: unknown) => {
      const reason = error instanceof Error ? (error.cause ?? error.message) : error;
      throw new UsageError(`URL: ${origin} does not answer (${reason}). Check the URL, and that the host is running.`);
    });
    const body = await response.json().catch(() => ({}));
    return {
      status: response.status,
      headers: response.headers,
      body: typeof body === 'object' && body !== null ? body : {},
    };
  };
}

/** Makes the finding about a rule. */
export function finding(rule: string, ok: boolean, note: string): Finding {
  return { rule, ok, note: ok ? '' : note };
}

/** Returns the major that stamped an answer. */
export function majorIn({ headers }: Answer): Major | undefined {
  return majorOf(parseVersion(headers.get(VERSION_HEADER) ?? '')?.major);
}

/** Describes the stamp of an answer. */
export function stamp({ headers }: Answer): string {
  const version = headers.get(VERSION_HEADER);
  return version === null ? `no ${VERSION_HEADER}` : `${VERSION_HEADER}: ${version}`;
}

/** Describes a refusal. */
export function described(answer: Answer): string {
  return `${answer.status} ${String(answer.body.error ?? '')}, ${stamp(answer)}`;
}
