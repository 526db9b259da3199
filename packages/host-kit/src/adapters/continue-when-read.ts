import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Tells a client that sent `Expect: 100-continue` to go on when the body of its request is first read. A client that is
 * refused before keeps its body. Each of these connections is closed after its answer, because the server cannot know
 * whether the body of a refused request follows.
 *
 * @see RFC 9110, section 10.1.1
 */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('connection', 'close');
  const read = request._read;
  request._read = (size) => {
    request._read = read;
    if (!response.headersSent) response.writeContinue();
    read.call(request, size);
  };
}
