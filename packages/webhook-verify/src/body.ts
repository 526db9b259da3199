/** A request body as it was received: its text or its bytes. */
export type RawBody = string | ArrayBuffer | ArrayBufferView;

/**
 * Returns the signed bytes or text, without a copy.
 *
 * @throws {TypeError} for any other value; a parsed object no longer has the signed bytes
 */
export function rawBody(body: unknown): Uint8Array | string {
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError(
    'body: must be the raw bytes or text of the request, not a parsed object. ' +
      'Express: express.raw({ type: "application/json" }) on this route; Fastify: a buffer content-type parser; ' +
      'Next.js, Hono, Workers: await request.arrayBuffer() first.',
  );
}

/** Decodes the body; undefined when its bytes are not UTF-8. */
export function textOf(body: Uint8Array | string): string | undefined {
  if (typeof body === 'string') return body;
  try {
    return utf8.decode(body);
  } catch {
    return undefined;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
