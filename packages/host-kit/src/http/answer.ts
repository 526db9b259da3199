import type { Reply } from './route.ts';

/** An answer as data. An adapter writes it, and `Host.fetch` makes a `Response` of it. */
export interface Answer {
  readonly status: number;
  /** By lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is read at the pace of the client, and cancelled when the client disconnects. */
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | undefined;
}

/** Converts a reply to an answer. Data becomes JSON. */
export function answerOf({ status, headers = {}, body }: Reply): Answer {
  if (body === undefined) return { status, headers, body };
  const content = body instanceof Uint8Array || body instanceof ReadableStream ? body : JSON.stringify(body);
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: content };
}

/** Makes an error answer outside of the protocol. It has no `SVC-Version`. */
export function plainError(status: number, error: string, message: string): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ error, message }) };
}

/** Makes the answer to a HEAD request: the header fields of a GET. A stream is cancelled unread. */
export function withoutBody(answer: Answer): Answer {
  const { body, headers } = answer;
  if (body instanceof ReadableStream) void body.cancel();
  if (body === undefined || body instanceof ReadableStream) return { ...answer, body: undefined };
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  return { ...answer, headers: { ...headers, 'content-length': String(length) }, body: undefined };
}

/** Converts an answer to a `Response`. */
export function responseOf({ status, headers, body }: Answer): Response {
  return new Response(body instanceof Uint8Array ? body.slice() : (body ?? null), { status, headers });
}
