import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { peerOf } from '@svc/auth/node';
import type { Host } from '../host.ts';
import { type Answer, withoutBody } from '../http/answer.ts';
import type { RequestFault } from '../http/request-fault.ts';
import { judgeTarget } from './request-target.ts';

/**
 * Lets a host answer the requests that the HTTP parser of Node refuses: a malformed line or header, a head that is too large, one that
 * arrives too late, or an unknown `Expect`. The answer has the error envelope and `SVC-Version` of the operation that the request line names.
 * A request whose line cannot be read gets its status alone, without a body. The connection is closed.
 *
 * Replaces the listeners of `clientError` and `checkExpectation`, so call it when the framework has made its server.
 *
 * @example
 * const server = hostServer(toNodeListener(host));
 * answerParserErrors(server, host);
 * server.listen(8787, '127.0.0.1');
 * @see RFC 9112, section 2.2
 */
export function answerParserErrors(server: Server, host: Pick<Host, 'answer'>): void {
  /** The response to the last request of a connection. It is written after all others. */
  const open = new WeakMap<Duplex, ServerResponse>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => void open.set(request.socket, response));
  server.removeAllListeners('clientError');
  server.on('clientError', (error: ParserError, socket: Socket) => {
    const response = open.get(socket);
    // A second head in the middle of an answer would be read as its body.
    const isAnswered = response?.headersSent === true && !response.writableFinished;
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswered) {
      socket.destroy();
      return;
    }
    const fault = FAULTS[error.code ?? ''] ?? MALFORMED;
    const isWaiting = response !== undefined && !response.writableFinished;
    const own = headOf(error);
    const head = own ?? (isWaiting ? headOfRequest(response.req) : undefined);
    const refuse = () => {
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
      void answered(host, head, socket, fault).then(
        (text) => void socket.end(text, () => socket.destroy()),
        () => void socket.destroy(),
      );
    };
    // Answers have the order of the requests. The client would take this one for that of the request before.
    if (isWaiting && own !== undefined) response.once('finish', refuse);
    else refuse();
  });
  server.removeAllListeners('checkExpectation');
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    void answered(host, headOfRequest(request), request.socket, EXPECTATION).then(
      (text) => {
        response.detachSocket(request.socket);
        request.socket.end(text, () => request.socket.destroy());
      },
      () => request.socket.destroy(),
    );
  });
}

/** The error of the parser, as Node describes it. */
interface ParserError extends Error {
  readonly code?: string;
  /** The piece of the connection in which the error is. */
  readonly rawPacket?: Uint8Array;
  /** The place of the error in that piece. */
  readonly bytesParsed?: number;
}

const MALFORMED: RequestFault = {
  status: 400,
  message: 'The request is not valid HTTP. Send a request line, header lines and a body that RFC 9112 allows.',
};
const TOO_LATE: RequestFault = { status: 408, message: 'The request did not arrive in time. Send it again.' };
const EXPECTATION: RequestFault = {
  status: 417,
  message: 'The request expects something else than 100-continue. Leave Expect out.',
};
const FAULTS: Readonly<Record<string, RequestFault>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The head of the request is too large. Send fewer or shorter headers.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    message: 'The chunk extensions of the body are too large. Send the body without them.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: TOO_LATE,
};

/** A client that does not read its answer is not waited for longer. */
const LINGER_MS = 5000;

/** The readable part of a head: the request line, and the lines of `Host` and `SVC-Version`. */
interface Head {
  readonly method: string;
  readonly target: string;
  readonly host: string | undefined;
  readonly versions: readonly string[];
}

/** Reads the head in which the parser found the error. */
function headOf({ rawPacket, bytesParsed = rawPacket?.length }: ParserError): Head | undefined {
  if (rawPacket === undefined) return undefined;
  // One byte is one character, so that no byte of a target is replaced.
  const text = Buffer.from(rawPacket).toString('latin1').slice(0, MOST_READ);
  // The piece may begin with an earlier request of the connection.
  const before = text.slice(0, bytesParsed).lastIndexOf(END_OF_HEAD);
  const [head = ''] = text.slice(before === -1 ? 0 : before + END_OF_HEAD.length).split(END_OF_HEAD, 1);
  const line = /^(?:\r?\n)*([A-Z]{1,20}) (\S{1,8192}) HTTP\/1\.[01]\r?\n/.exec(head);
  if (line === null) return undefined;
  const values = (name: string) =>
    [...head.matchAll(new RegExp(`^${name}:[ \\t]*([\\x21-\\x7e \\t]*?)[ \\t]*\\r?$`, 'gim'))].map(
      ([, value = '']) => value,
    );
  return { method: line[1] ?? '', target: line[2] ?? '', host: values('host')[0], versions: values('svc-version') };
}

const END_OF_HEAD = '\r\n\r\n';
/** Longer than the largest head that Node reads by default, twice. */
const MOST_READ = 65_536;

function headOfRequest({ method = 'GET', url = '', headers, headersDistinct }: IncomingMessage): Head {
  return { method, target: url, host: headers.host, versions: headersDistinct['svc-version'] ?? [] };
}

/** Returns the whole answer as it is written to the connection. */
async function answered(
  host: Pick<Host, 'answer'>,
  head: Head | undefined,
  socket: Socket,
  fault: RequestFault,
): Promise<Buffer> {
  const request = head && requestOf(head);
  if (request === undefined) return written({ status: fault.status, headers: {}, body: undefined });
  const answer = await host.answer(request, peerOf(socket), fault);
  // A refusal is never a stream.
  return written(answer.body instanceof ReadableStream ? withoutBody(answer) : answer);
}

/** Returns undefined for a request that cannot be told from others by its line. */
function requestOf({ method, target, host, versions }: Head): Request | undefined {
  const judged = judgeTarget(target, host);
  if (judged === undefined) return undefined;
  try {
    const headers = versions.map((value): [string, string] => ['svc-version', value]);
    return new Request(new URL(judged.target, 'http://localhost'), { method, headers });
  } catch {
    // `fetch` knows no request of the method, such as CONNECT.
    return undefined;
  }
}

function written({ status, headers, body }: Answer): Buffer {
  const content = typeof body === 'string' ? Buffer.from(body) : body instanceof Uint8Array ? body : Buffer.alloc(0);
  const lines = Object.entries({ 'content-length': String(content.length), ...headers, connection: 'close' });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), content]);
}
