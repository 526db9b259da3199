import { HostError, invalid } from '../errors.ts';
import type { Json } from '../json.ts';
import { isDeeperThan } from './json-depth.ts';

export interface BodyLimits {
  readonly maxBytes: number;
  /** The time in which a body must arrive, in ms. */
  readonly timeoutMs: number;
}

/**
 * Refuses a body whose declared length is over the limit, before any other work.
 *
 * @throws {HostError} `payload_too_large`
 */
export function refuseDeclaredLength(headers: Headers, { maxBytes }: BodyLimits): void {
  const declared = headers.get('content-length');
  if (declared !== null && !(Number(declared) <= maxBytes)) throw tooLarge(maxBytes);
}

/** A JSON body, parsed and as received. */
export interface JsonBody {
  readonly json: Json;
  readonly bytes: Uint8Array;
}

/**
 * Reads a JSON body within its limits.
 *
 * @throws {HostError} `unsupported_media_type`, `payload_too_large`, `validation_error`
 */
export async function readJson(request: Request, limits: BodyLimits): Promise<JsonBody> {
  requireJson(request.headers);
  return parseJson(await readBytes(request, limits));
}

/**
 * Requires the media type of JSON, without a content coding.
 *
 * @throws {HostError} `unsupported_media_type`
 */
export function requireJson(headers: Headers): void {
  const type = headers.get('content-type') ?? '';
  if (!/^application\/(?:json|[a-z0-9.+-]+\+json)\s*(?:;|$)/i.test(type)) throw unsupported();
  const coding = headers.get('content-encoding') ?? 'identity';
  if (coding.toLowerCase() !== 'identity') {
    // The length of a compressed body does not bound the length of its content.
    throw new HostError(
      'unsupported_media_type',
      'The body has a Content-Encoding. Send it uncompressed, without that header.',
      {
        details: undefined,
        headers: { 'accept-encoding': 'identity' },
      },
    );
  }
}

/**
 * Parses a JSON body.
 *
 * @throws {HostError} `validation_error`
 */
export function parseJson(bytes: Uint8Array): JsonBody {
  // Before parsing: schemas, stores and engines recurse into a body, so its depth bounds their stack.
  if (isDeeperThan(MOST_LEVELS, bytes)) throw tooDeep();
  try {
    return { json: JSON.parse(utf8.decode(bytes)), bytes };
  } catch {
    throw invalid({ field: 'body', problem: 'must be JSON in UTF-8' });
  }
}

/** The deepest nesting of arrays and objects in a body. `[]` has one level. */
export const MOST_LEVELS = 64;

/** Reads a JSON body as `readJson` does. No body means `{}`. */
export async function readOptionalJson(request: Request, limits: BodyLimits): Promise<JsonBody> {
  if (request.headers.has('content-type')) return await readJson(request, limits);
  const bytes = await readBytes(request, limits);
  if (bytes.length === 0) return { json: {}, bytes };
  throw unsupported();
}

function unsupported(): HostError {
  return new HostError('unsupported_media_type', 'Send the body as JSON with "Content-Type: application/json".', {
    details: undefined,
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a body as received, within its limits.
 *
 * @throws {HostError} `payload_too_large`, `validation_error`
 */
export async function readBytes(request: Request, { maxBytes, timeoutMs }: BodyLimits): Promise<Uint8Array> {
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
      if (late) throw tooSlow();
      if (done) return Buffer.concat(chunks, size);
      size += value.length;
      if (size > maxBytes) {
        void reader.cancel().catch(() => {});
        throw tooLarge(maxBytes);
      }
      chunks.push(value);
    }
  } catch (error) {
    if (late) throw tooSlow();
    if (HostError.is(error)) throw error;
    throw invalid({ field: 'body', problem: 'ended before it was complete' });
  } finally {
    clearTimeout(timer);
  }
}

function tooDeep(): HostError {
  return invalid({ field: 'body', problem: `must not nest arrays and objects more than ${MOST_LEVELS} levels deep` });
}

function tooSlow(): HostError {
  return invalid({ field: 'body', problem: 'did not arrive in time' });
}

function tooLarge(maxBytes: number): HostError {
  return new HostError('payload_too_large', `The body is too large. This host accepts at most ${maxBytes} bytes.`, {
    details: { maxRequestBodyBytes: maxBytes },
    headers: { connection: 'close' },
  });
}
