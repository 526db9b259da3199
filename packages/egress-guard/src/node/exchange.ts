import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';

export interface ExchangeRequest {
  /** `https://host:port`. */
  readonly origin: string;
  /** Path and query of a parsed URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
}

export interface ExchangeResponse {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/**
 * One POST over one connection that is already open and checked, which is destroyed afterwards. Redirects are not followed and
 * nothing is decompressed; the body is read to its end or its limit and dropped.
 */
export async function exchange(socket: Socket, request: ExchangeRequest): Promise<ExchangeResponse> {
  const client = new Client(request.origin, {
    // The one connection there is; a second would be an unchecked one. Undici expects the answer in a later step.
    connect: (_options, callback) => queueMicrotask(() => callback(null, socket)),
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The signal is the one deadline; these would be idle timers beside it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  // Undici does not let the signal end a request in every state; destroying the client does.
  const destroy = () => void client.destroy().catch(() => {});
  request.signal.addEventListener('abort', destroy, { once: true });
  try {
    const { origin: _origin, path, headers, body, signal } = request;
    const response = await client.request({ method: 'POST', path, headers, body, signal });
    await drain(response.body, request.maxResponseBytes);
    return { status: response.statusCode, retryAfter: single(response.headers['retry-after']) };
  } finally {
    request.signal.removeEventListener('abort', destroy);
    destroy();
    socket.destroy();
  }
}

const MAX_HEADER_BYTES = 16_384;

/** The status line is the verdict; of the body only its bounded end matters. */
async function drain(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<void> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) return;
  }
}

function single(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
