import { Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';

/** A request as it is sent. Path and query are not normalised; a header with several values is sent once for each. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | undefined;
}

/** Sends requests to the host over a pool of kept connections. */
export interface Connections {
  /** Sends a request. Resolves when the head of the response has arrived. */
  send(outgoing: Outgoing, signal: AbortSignal): Promise<IncomingMessage>;
  /** Closes all connections. */
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
      // Node.js takes an IPv6 address without the brackets of the URL.
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
      // The host may close an idle connection at the moment when it is used again: send the request once more.
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

/** Returns path and query as they were written. `URL` would normalise them. */
function targetOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  return start === -1 ? '/' : url.slice(start);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** Reads a body of at most 16 MiB and decodes its content coding. */
export async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of message) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error(`the body is larger than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return decoded(Buffer.concat(chunks), message.headers['content-encoding']).toString('utf8');
}

/** @throws {Error} when the coding is unknown, or the bytes are not valid in it */
function decoded(bytes: Buffer, coding: string | undefined): Buffer {
  if (coding === undefined || coding === 'identity' || bytes.length === 0) return bytes;
  const decode = DECODERS.get(coding);
  if (decode === undefined)
    throw new Error(`the body has the content coding ${coding}, which the request did not accept`);
  return decode(bytes, { maxOutputLength: MAX_BODY_BYTES });
}

type Decoder = (bytes: Uint8Array, bounds: { readonly maxOutputLength: number }) => Buffer;

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', gunzipSync],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
]);

const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Describes a failed request, as the end of a sentence. */
export function unanswered(error: unknown): string {
  const code = codeOf(error);
  return `a failed connection (${code ?? (error instanceof Error ? error.message : String(error))})`;
}
