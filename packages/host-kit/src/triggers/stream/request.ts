import type { StreamedResponse, StreamInit } from '@svc/egress-guard/stream';
import type { StreamSource } from '../../ports/triggers.ts';
import { retryAfterMs } from '../../webhooks/retry.ts';

/** The request that opens a stream behind a cursor. */
export interface StreamRequest {
  readonly url: string;
  readonly headers: NonNullable<StreamInit['headers']>;
}

/** @param cursor empty: the stream is opened at its beginning */
export function streamRequest(
  { url, format, cursorParameter, credential }: StreamSource,
  cursor: string,
  secret: string,
): StreamRequest {
  const inQuery = cursor !== '' && cursorParameter !== undefined;
  const headers = {
    accept: TYPES[format].join(', '),
    'cache-control': 'no-store',
    // A header has bytes, and the guard takes each as a character.
    ...(cursor !== '' && !inQuery && { 'last-event-id': Buffer.from(cursor).toString('latin1') }),
    ...(credential !== undefined && { [credential.header]: credential.prefix + secret }),
  };
  if (!inQuery) return { url, headers };
  const resumed = new URL(url);
  resumed.searchParams.set(cursorParameter, cursor);
  return { url: resumed.href, headers };
}

const TYPES: Readonly<Record<StreamSource['format'], readonly string[]>> = {
  sse: ['text/event-stream'],
  ndjson: ['application/x-ndjson', 'application/ndjson', 'application/jsonl', 'application/x-jsonlines'],
};

/** A connection that delivers no messages, or no more of them. */
export class StreamFault extends Error {
  /** The pause that the server asked for, in ms. */
  readonly askedMs: number | undefined;

  constructor(problem: string, askedMs?: number) {
    super(problem);
    this.askedMs = askedMs;
  }
}

/**
 * Returns whether the server ended the stream for good, with 204 or 410.
 *
 * @throws {StreamFault} when the response is no stream of the format
 */
export function isEnded({ status, headers }: StreamedResponse, { format }: StreamSource, now: number): boolean {
  if (status === 204 || status === 410) return true;
  const asked = retryAfterMs(headers.get('retry-after') ?? undefined, now);
  if (status !== 200) throw new StreamFault(`the server answered with the status ${status}`, asked);
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  if (TYPES[format].includes(type.trim().toLowerCase())) return false;
  throw new StreamFault(`the server answered with a content type that is not ${TYPES[format].join(' or ')}`);
}
