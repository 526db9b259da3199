import type { Major } from '../rule.ts';

/** What was sent, in the form that a `curl` can repeat. */
export interface Sent {
  readonly method: string;
  readonly url: string;
  /** Without the credential. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The environment variables that the credentials of the request are read from, in its order; a key itself is never shown. */
  readonly credentials: readonly string[];
  readonly body: string | undefined;
}

/** What a host answered. */
export interface Answer {
  readonly sent: Sent;
  /** The major that was asked. */
  readonly major: Major;
  readonly status: number;
  /** All values of a header, joined by a comma and a space. */
  readonly header: (name: string) => string | undefined;
  readonly text: string;
  /** How long it took, in ms. */
  readonly took: number;
}

/** The body as JSON; undefined when it is none. */
export function jsonOf({ text }: Pick<Answer, 'text'>): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An answer in one line, for people. */
export function described({ status, header, text }: Answer): string {
  const type = header('content-type');
  const body = text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${text.length} characters)` : text;
  return [status, ...(type === undefined ? [] : [type]), ...(body === '' ? [] : [body])].join(' · ');
}

const SHOWN = 600;
