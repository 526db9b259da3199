import { HostError, invalid } from '../errors.ts';
import { isDeeperThan } from './json-depth.ts';

export interface BodyLimits {
  readonly maxBytes: number;
  /** How long a body may take to arrive, in ms. */
  readonly timeoutMs: number;
}

/** Refuses a body whose declared length is over the limit, before anything else is done for the request. */
export function refuseDeclaredLength(headers: Headers, { maxBytes }: BodyLimits): void {
  const declared = headers.get('content-length');
  if (declared !== null && !(Number(declared) <= maxBytes)) throw tooLarge(maxBytes);
}

/** A JSON body, parsed and as it came. */
export interface JsonBody {
  readonly json: unknown;
  readonly bytes: Uint8Array;
}

/**
 * Reads a JSON body within its limits.
 *
 * @throws {HostError} `unsupported_media_type`, `payload_too_large`, `validation_error`
 */
export async function readJson(request: Request, limits: BodyLimits): Promise<JsonBody> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/(?:json|[a-z0-9.+-]+\+json)\s*(?:;|$)/i.test(type)) throw unsupported();
  const coding = request.headers.get('content-encoding') ?? 'identity';
  if (coding.toLowerCase() !== 'identity') {
    // What a body decodes to has no bound that its length tells.
    throw new HostError('unsupported_media_type', 'Send the body as it is, without a Content-Encoding.', {
      details: undefined,
      headers: { 'accept-encoding': 'identity' },
    });
  }
  const bytes = await readBytes(request, limits);
  // Before it is parsed: schemas, stores and engines walk a body by calling themselves for each level of it.
  if (isDeeperThan(MOST_LEVELS, bytes)) throw tooDeep();
  try {
    return { json: JSON.parse(utf8.decode(bytes)), bytes };
  } catch {
    throw invalid({ field: 'body', problem: 'is not JSON in UTF-8' });
  }
}

/** How deep arrays and objects may stand in each other, the body itself among them. */
export const MOST_LEVELS = 64;

/** The same, where no body stands for an empty object. */
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

async function readBytes(request: Request, { maxBytes, timeoutMs }: BodyLimits): Promise<Uint8Array> {
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
    throw invalid({ field: 'body', problem: 'could not be read to its end' });
  } finally {
    clearTimeout(timer);
  }
}

function tooDeep(): HostError {
  return invalid({ field: 'body', problem: `nests arrays and objects more than ${MOST_LEVELS} levels deep` });
}

function tooSlow(): HostError {
  return invalid({ field: 'body', problem: 'did not arrive in time' });
}

function tooLarge(maxBytes: number): HostError {
  return new HostError('payload_too_large', `The body is larger than the ${maxBytes} bytes that this host takes.`, {
    details: { maxRequestBodyBytes: maxBytes },
    headers: { connection: 'close' },
  });
}
