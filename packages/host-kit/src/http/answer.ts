import type { Reply } from './route.ts';

/** An answer as data: what an adapter writes, and what `fetch` makes a `Response` of. */
export interface Answer {
  readonly status: number;
  /** By lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

export function answerOf({ status, headers = {}, body }: Reply): Answer {
  if (body === undefined) return { status, headers, body };
  const bytes = body instanceof Uint8Array ? body : JSON.stringify(body);
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: bytes };
}

/** An error outside of the protocol, so without its version. */
export function plainError(status: number, error: string, message: string): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ error, message }) };
}

export function responseOf({ status, headers, body }: Answer): Response {
  return new Response(body instanceof Uint8Array ? body.slice() : (body ?? null), { status, headers });
}
