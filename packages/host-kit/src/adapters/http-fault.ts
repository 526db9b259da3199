import type { IncomingMessage } from 'node:http';
import type { RequestFault } from '../http/request-fault.ts';

/**
 * Judges the framing of a request where the parser of Node is lenient. The connection of such a request must be closed:
 * where its next request begins is not certain.
 *
 * @see RFC 9112, sections 3.2, 6.1
 */
export function faultOf({ rawHeaders, headers, httpVersion }: IncomingMessage): RequestFault | undefined {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) {
    if (httpVersion === '1.0') return CODING_BEFORE_1_1;
    if (coding.toLowerCase() !== 'chunked') return UNKNOWN_CODING;
  }
  if (headers.host === undefined && httpVersion === '1.1') return NO_HOST;
  return hasTwoHosts(rawHeaders) ? TWO_HOSTS : undefined;
}

/** The parser joins no two of them: it takes the first. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1;
}

const NO_HOST: RequestFault = { status: 400, message: 'The request has no Host line. Send one.' };
const TWO_HOSTS: RequestFault = { status: 400, message: 'The request has two Host lines. Send one.' };
const CODING_BEFORE_1_1: RequestFault = {
  status: 400,
  message: 'The request has a Transfer-Encoding, which HTTP/1.0 does not have. Send a Content-Length.',
};
const UNKNOWN_CODING: RequestFault = {
  status: 501,
  message: 'The request has another Transfer-Encoding than chunked. Send it as chunked, or with a Content-Length.',
};
