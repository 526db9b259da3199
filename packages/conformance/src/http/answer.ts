import type { Major } from '../rule.ts';

/** A request as it was sent, without its credential. */
export interface Sent {
  readonly method: string;
  readonly url: string;
  /** Headers without the credential. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Environment variables that hold the keys of the request. The keys themselves are never shown. */
  readonly credentials: readonly string[];
  readonly body: string | undefined;
}

/** A response of the host. */
export interface Answer {
  readonly sent: Sent;
  /** Major of the request. */
  readonly major: Major;
  readonly status: number;
  /** Returns all values of a header, joined by a comma and a space. */
  readonly header: (name: string) => string | undefined;
  readonly text: string;
  /** Time from the request to the end of the response, in ms. */
  readonly durationMs: number;
}

/** Parses the body as JSON. Returns undefined when it is not JSON. */
export function jsonOf({ text }: Pick<Answer, 'text'>): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Formats an answer in one line: status, media type, and at most 600 characters of the body. */
export function described({ status, header, text }: Answer): string {
  const type = header('content-type');
  const body = text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${text.length} characters)` : text;
  return [status, ...(type === undefined ? [] : [type]), ...(body === '' ? [] : [body])].join(' · ');
}

const SHOWN = 600;
