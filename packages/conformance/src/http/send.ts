import { Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';

/** One request as it goes out: the target verbatim, a list of values for a header that is sent more than once. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | undefined;
}

/** Sends requests to one host over connections of its own. */
export interface Connections {
  /** Resolves with the head of the answer. */
  send(outgoing: Outgoing, signal: AbortSignal): Promise<IncomingMessage>;
  close(): void;
}

export function connections(): Connections {
  const options = { keepAlive: true, maxSockets: MAX_SOCKETS };
  const agents = { http: new Agent(options), https: new SecureAgent(options) };

  async function send(outgoing: Outgoing, signal: AbortSignal, isSecond = false): Promise<IncomingMessage> {
    const { method, url, headers, body } = outgoing;
    const { protocol, hostname, port } = new URL(url);
    const isSecure = protocol === 'https:';
    const request = (isSecure ? requestHttps : requestHttp)({
      // An IPv6 address stands in brackets in a URL, and nowhere else.
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      path: targetOf(url),
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }) },
      agent: isSecure ? agents.https : agents.http,
      signal,
    });
    try {
      return await new Promise((resolve, reject) => {
        request.once('response', resolve).once('error', reject).end(body);
      });
    } catch (error) {
      // The host may end an idle connection in the moment in which it is used again.
      if (request.reusedSocket && !isSecond && codeOf(error) === 'ECONNRESET') return send(outgoing, signal, true);
      throw error;
    }
  }

  return {
    send,
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

const MAX_SOCKETS = 64;

/** Path and query as they were written; `URL` would tidy them up. */
function targetOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  return start === -1 ? '/' : url.slice(start);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** Reads a body whole, within bounds. */
export async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of message) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error(`The body of the answer is larger than ${MAX_BODY_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return decoded(Buffer.concat(chunks), message.headers['content-encoding']).toString('utf8');
}

/** @throws {Error} for a coding that is not known, or bytes that are not of it */
function decoded(bytes: Buffer, coding: string | undefined): Buffer {
  if (coding === undefined || coding === 'identity' || bytes.length === 0) return bytes;
  const decode = DECODERS.get(coding);
  if (decode === undefined) throw new Error(`The answer is in the content coding ${coding}, which was not asked for.`);
  return decode(bytes, { maxOutputLength: MAX_BODY_BYTES });
}

type Decoder = (bytes: Uint8Array, bounds: { readonly maxOutputLength: number }) => Buffer;

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', gunzipSync],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
]);

const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Why there is no answer, for people. */
export function unanswered(error: unknown): string {
  const code = codeOf(error);
  return `a connection that failed (${code ?? (error instanceof Error ? error.message : String(error))})`;
}
