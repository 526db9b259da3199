import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { framesOf } from '../src/http/frames.ts';
import { connections } from '../src/http/send.ts';

/** Reads the frames of a stream that is sent in these pieces. */
async function framesIn(...pieces: readonly string[]) {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const write = async () => {
      for (const piece of pieces) {
        response.write(piece);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      response.end();
    };
    void write();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const open = connections();
  try {
    const outgoing = { method: 'GET', url: `http://127.0.0.1:${port}/`, headers: {}, body: undefined };
    const message = await open.send(outgoing, AbortSignal.timeout(5000));
    const seen = [];
    for await (const frame of framesOf(message)) seen.push(frame);
    return seen;
  } finally {
    open.close();
    server.closeAllConnections();
    server.close();
  }
}

test.each([
  [
    'fields of a frame',
    ['id: 3\nevent: run.started\ndata: {"a":1}\n\n'],
    [{ id: '3', event: 'run.started', data: '{"a":1}' }],
  ],
  ['data on several lines', ['data: a\ndata: b\n\n'], [{ id: undefined, event: 'message', data: 'a\nb' }]],
  [
    'CR, LF and CRLF line breaks, also when a CRLF is split',
    ['data: a\r\n\r', '\ndata: b\r\rdata: c\n', '\n'],
    ['a', 'b', 'c'].map((data) => ({ id: undefined, event: 'message', data })),
  ],
  ['a frame that is split into pieces', ['da', 'ta: ', 'a\n', '\n'], [{ id: undefined, event: 'message', data: 'a' }]],
  ['comments', [':keepalive\n\n'], [{ comment: 'keepalive' }]],
  [
    'the last id for a frame without one',
    ['id: 1\ndata: a\n\ndata: b\n\n'],
    ['a', 'b'].map((data) => ({ id: '1', event: 'message', data })),
  ],
  ['no frame without its final empty line', ['data: a\n\ndata: b'], [{ id: undefined, event: 'message', data: 'a' }]],
  ['no frame without data', ['event: x\n\n'], []],
])('reads %s', async (_title, pieces, frames) => {
  expect(await framesIn(...pieces)).toEqual(frames);
});
