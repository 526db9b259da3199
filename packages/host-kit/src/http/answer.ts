import type { Reply } from './route.ts';

/** An answer as data: what an adapter writes, and what `fetch` makes a `Response` of. */
export interface Answer {
  readonly status: number;
  /** By lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is read as its reader takes it, and cancelled when that reader has gone. */
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | undefined;
}

export function answerOf({ status, headers = {}, body }: Reply): Answer {
  if (body === undefined) return { status, headers, body };
  const content = body instanceof Uint8Array || body instanceof ReadableStream ? body : JSON.stringify(body);
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: content };
}

/** An error outside of the protocol, so without its version. */
export function plainError(status: number, error: string, message: string): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ error, message }) };
}

/** The answer to a HEAD request: nothing is read of what the body would have been. */
export function withoutBody(answer: Answer): Answer {
  if (answer.body instanceof ReadableStream) void answer.body.cancel();
  return { ...answer, body: undefined };
}

export function responseOf({ status, headers, body }: Answer): Response {
  return new Response(body instanceof Uint8Array ? body.slice() : (body ?? null), { status, headers });
}
