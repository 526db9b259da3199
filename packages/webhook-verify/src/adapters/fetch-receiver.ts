import type { OptionNames } from '../known-options.ts';
import { RECEIVE_OPTIONS, type ReceiveOptions, receiverOf } from '../receiver.ts';
import { answerHeaders } from './answer-headers.ts';
import { BODY_LIMITS, type BodyLimits, type BodyRead, bodyLimits } from './body-limits.ts';

/** The options of a receiver of Web requests. */
export interface WebReceiverOptions<Source extends readonly unknown[]> extends ReceiveOptions<Source>, BodyLimits {}

/** The names of {@link WebReceiverOptions}. */
export const WEB_OPTIONS: OptionNames<WebReceiverOptions<[]>> = { ...RECEIVE_OPTIONS, ...BODY_LIMITS };

/** Makes a receiver of Web requests, whose options are checked for unknown names already. */
export function fetchReceiver<Source extends readonly unknown[]>(
  options: WebReceiverOptions<Source>,
): (request: Request, ...source: Source) => Promise<Response> {
  const limits = bodyLimits(options);
  const handle = receiverOf(options);

  return async (request, ...source) => {
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'POST' } });
    if (request.bodyUsed) {
      throw new TypeError(
        'request: its body is already read, and the signature covers its bytes. Pass it before anything reads it.',
      );
    }
    const read = await readBody(request, limits);
    if (typeof read === 'number') return new Response(null, { status: read });
    const answer = await handle(read, request.headers, ...source);
    return new Response(answer.body ?? null, { status: answer.status, headers: answerHeaders(answer) });
  };
}

async function readBody(request: Request, { maxBodyBytes, bodyTimeoutMs }: Required<BodyLimits>): Promise<BodyRead> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBodyBytes) return 413;
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    void reader.cancel().catch(() => {});
  }, bodyTimeoutMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (late) return 408;
      if (done) return joined(chunks, size);
      size += value.length;
      if (size > maxBodyBytes) {
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
