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

/** The answer to a HEAD request: the fields of a GET. Nothing is read of what the body would have been. */
export function withoutBody(answer: Answer): Answer {
  const { body, headers } = answer;
  if (body instanceof ReadableStream) void body.cancel();
  if (body === undefined || body instanceof ReadableStream) return { ...answer, body: undefined };
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  return { ...answer, headers: { ...headers, 'content-length': String(length) }, body: undefined };
}

export function responseOf({ status, headers, body }: Answer): Response {
  return new Response(body instanceof Uint8Array ? body.slice() : (body ?? null), { status, headers });
}
