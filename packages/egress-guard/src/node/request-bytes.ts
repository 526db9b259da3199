/** The parts of a request whose headers were checked. */
export interface RequestParts {
  /** The method. */
  readonly method: string;
  /** The host and port for the header `host`, as the checked URL has them. */
  readonly host: string;
  /** The path and query of a checked URL. */
  readonly path: string;
  /** The headers, already checked. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, text as UTF-8; undefined for none. */
  readonly body: Uint8Array | string | undefined;
}

/**
 * Returns the bytes of an HTTP/1.1 request: head and body in one buffer, so that one write sends both.
 *
 * @throws {TypeError} when the host or the path could end its line
 */
export function requestBytes({ method, host, path, headers, body }: RequestParts): Buffer {
  if (!HOST.test(host) || !PATH.test(path)) {
    throw new TypeError('path: must be the path and the host of a checked URL. Pass the URL through checkUrl.');
  }
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
  const length = lengthOf(body);
  // A method that describes its body by definition says that it has none (RFC 9110, 8.6).
  if (body !== undefined || method === 'POST' || method === 'PUT' || method === 'PATCH') {
    head += `content-length: ${length}\r\n`;
  }
  head += '\r\n';
  const bytes = Buffer.allocUnsafe(head.length + length);
  bytes.write(head, 'latin1');
  if (typeof body === 'string') bytes.write(body, head.length, 'utf8');
  else if (body !== undefined) bytes.set(body, head.length);
  return bytes;
}

const HOST = /^[!-~]+$/;
const PATH = /^\/[!-~]*$/;

function lengthOf(body: Uint8Array | string | undefined): number {
  if (body === undefined) return 0;
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}
