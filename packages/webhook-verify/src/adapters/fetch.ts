import { type ReceiveOptions, receive } from '../receive.ts';

export interface FetchReceiverOptions extends ReceiveOptions {
  /** Larger bodies are answered 413 without being read to the end. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** A body that takes longer is answered 408. Default 10 000 ms. */
  readonly bodyTimeoutMs?: number;
}

/**
 * A receiver for every platform that speaks Web `Request` and `Response`: Next.js, SvelteKit, Remix, Hono, Bun, Deno, Workers.
 *
 * @example
 * export const POST = toFetchHandler({ secret: process.env.WEBHOOK_SECRET, onDelivery: (delivery) => { … } });
 */
export function toFetchHandler(options: FetchReceiverOptions): (request: Request) => Promise<Response> {
  const { maxBodyBytes = 1_048_576, bodyTimeoutMs = 10_000 } = options;
  const handle = receive(options);

  return async (request) => {
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'POST' } });
    const body = await readBody(request, maxBodyBytes, bodyTimeoutMs);
    if (typeof body === 'number') return new Response(null, { status: body });
    return new Response(null, { status: await handle(body, request.headers) });
  };
}

/** The bytes of the body, or the status that says why there are none. */
async function readBody(request: Request, maxBytes: number, timeoutMs: number): Promise<Uint8Array | 400 | 408 | 413> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return 413;
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    void reader.cancel().catch(() => {});
  }, timeoutMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (late) return 408;
      if (done) return joined(chunks, size);
      size += value.length;
      if (size > maxBytes) {
        void reader.cancel().catch(() => {});
        return 413;
      }
      chunks.push(value);
    }
  } catch {
    return late ? 408 : 400;
  } finally {
    clearTimeout(timer);
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
