import type { AuthError } from './errors.ts';

/** A refusal that any framework can write. */
export interface Refusal {
  /** HTTP status. */
  readonly status: number;
  /** Headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, JSON text by default. */
  readonly body: string;
}

/**
 * Makes a refusal in the interface's flat envelope, `{ error, message }`, with `scopeRequired` on the 403 of a missing
 * scope and `details` on a 429. A host with its own envelope reads the fields of the error instead.
 *
 * @example
 * const { status, headers, body } = refusal(outcome.error);
 * return new Response(body, { status, headers });
 * @see Interface: Error envelope (REST authentication failures)
 */
export function refusal(error: AuthError): Refusal {
  const { code, message, status, headers } = error;
  return {
    status,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ error: code, message, ...extraFields(error) }),
  };
}

function extraFields({ details }: AuthError): object {
  if (details === undefined) return {};
  return 'scopeRequired' in details ? { scopeRequired: details.scopeRequired } : { details };
}
