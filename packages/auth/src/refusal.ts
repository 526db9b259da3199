import { challenge } from './challenge.ts';
import type { AuthError } from './errors.ts';

/** A refusal ready to be written by any framework. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The flat envelope of the interface. @see Interface: Error envelope (REST authentication failures) */
export function refusal(error: AuthError): Refusal {
  const { code, message, status, details } = error;
  const extra = details === undefined ? {} : 'scopeRequired' in details ? details : { details };
  return {
    status,
    headers: { ...challenge(error), 'content-type': 'application/json' },
    body: JSON.stringify({ error: code, message, ...extra }),
  };
}
