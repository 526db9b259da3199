import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';

/** A request that passes through the proxy. */
export interface Asked {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A response that passes through the proxy. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** A stream is passed on chunk by chunk; `textIn` reads it whole. */
  readonly body: string | Readable;
}

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Injects a fault: it changes the request or the response, or answers without passing the request on. */
export type Meddler = (asked: Asked, pass: Pass, sign: Sign) => Promise<Answered>;

/** Signs a changed delivery again, with the secret of its subscription. */
export type Sign = (asked: Asked) => Asked;

export type Pass = (asked: Asked) => Promise<Answered>;

export interface Proxy {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Starts a proxy in front of a server. Every request goes through `meddle`. */
export async function startProxy(origin: () => string, meddle: Meddler, sign: Sign = (asked) => asked): Promise<Proxy> {
  const server: Server = createServer((incoming, outgoing) => {
    void (async () => {
      const asked = await askedIn(incoming);
      const answered = await meddle(asked, (next) => passOn(origin(), next), sign);
      const { status, headers, body } = answered;
      outgoing.writeHead(status, carried(headers));
      if (typeof body === 'string') outgoing.end(body);
      else {
        body.on('error', () => outgoing.destroy()).pipe(outgoing);
        outgoing.on('close', () => body.destroy());
      }
    })().catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function askedIn(incoming: IncomingMessage): Promise<Asked> {
  const { method = 'GET', url: target = '/', headersDistinct } = incoming;
  return { method, target, headers: { ...headersDistinct }, body: await read(incoming) };
}

async function passOn(origin: string, { method, target, headers, body }: Asked): Promise<Answered> {
  const { hostname, port } = new URL(origin);
  const own = { ...carried(headers), ...(body !== '' && { 'content-length': String(Buffer.byteLength(body)) }) };
  const sent = request({ hostname, port, method, path: target, headers: own, agent: false });
  sent.end(body);
  const [message] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: message.statusCode ?? 0, headers: message.headers as IncomingHttpHeaders, body: message };
}

/** Returns the headers without those of one connection. */
function carried(headers: Headers): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || CONNECTION.has(name.toLowerCase()) ? [] : [[name, value]],
    ),
  );
}

const CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'host',
]);

export async function textIn({ body }: Pick<Answered, 'body'>): Promise<string> {
  return typeof body === 'string' ? body : read(body);
}

async function read(message: Readable): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
