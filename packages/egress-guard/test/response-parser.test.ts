import { request } from 'node:http';
import { duplexPair } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidResponse, type ResponseHeaders, ResponseParser } from '../src/node/response-parser.ts';
import corpus from './hostile-responses.json' with { type: 'json' };

interface Reading {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: string;
}

interface OurReading extends Reading {
  readonly persists: boolean;
}

/** Reads chunks, and then the end of the connection. */
function read(chunks: readonly Buffer[], method = 'POST'): OurReading | 'invalid' {
  let status = 0;
  let headers: ResponseHeaders = {};
  const body: Buffer[] = [];
  const parser = new ResponseParser(method, {
    onHead: (...head) => {
      [status, headers] = head;
    },
    onBody: (bytes) => void body.push(Buffer.from(bytes)),
  });
  try {
    for (const chunk of chunks) parser.read(chunk);
    const { mayPersist } = parser;
    parser.end();
    return { status, headers: { ...headers }, body: Buffer.concat(body).toString('latin1'), persists: mayPersist };
  } catch (error) {
    if (error instanceof InvalidResponse) return 'invalid';
    throw error;
  }
}

/** Reads the same bytes with llhttp: by the client of `node:http`, over a pair of streams. */
function readByNode(bytes: Buffer, method = 'POST'): Promise<Reading | 'invalid'> {
  const [ours, theirs] = duplexPair();
  return new Promise((resolve) => {
    const call = request({ method, createConnection: () => ours, insecureHTTPParser: false });
    const fail = () => {
      ours.destroy();
      resolve('invalid');
    };
    call.on('error', fail).on('upgrade', fail);
    call.on('response', (response) => {
      const body: Buffer[] = [];
      response.on('data', (chunk: Buffer) => body.push(chunk)).on('error', fail);
      response.on('end', () => {
        const headers = Object.fromEntries(
          Object.entries(response.headersDistinct).map(([name, all = []]) => [name, all.length === 1 ? all[0] : all]),
        );
        if (response.complete) {
          resolve({ status: response.statusCode ?? 0, headers, body: Buffer.concat(body).toString('latin1') });
        } else fail();
      });
    });
    call.end();
    theirs.once('data', () => theirs.end(bytes));
    theirs.resume();
  });
}

/** The bytes up to the end of the response, without those that follow it. */
function withoutRest(bytes: Buffer, method = 'POST'): Buffer {
  const parser = new ResponseParser(method, { onHead: () => {}, onBody: () => {} });
  for (let at = 0; at < bytes.length; at += 1) {
    parser.read(bytes.subarray(at, at + 1));
    if (parser.isComplete) return bytes.subarray(0, at + 1);
  }
  return bytes;
}

const shown = (reading: OurReading | 'invalid') =>
  reading === 'invalid' ? reading : { status: reading.status, body: reading.body, persists: reading.persists };

describe('a response', () => {
  test.each(corpus.cases)('$why', async ({ bytes: text, outcome, method, llhttp }) => {
    const bytes = Buffer.from(text, 'latin1');
    expect(shown(read([bytes], method))).toEqual(outcome);
    const single = Array.from({ length: bytes.length }, (_, at) => bytes.subarray(at, at + 1));
    expect(shown(read(single, method)), 'byte by byte').toEqual(outcome);
    const node = await readByNode(llhttp === 'trailing' ? withoutRest(bytes, method) : bytes, method);
    expect(node === 'invalid', 'llhttp rejects').toBe(outcome === 'invalid' && llhttp !== 'accepts');
  });
});

/** Parts of responses, well-formed and not, so that a random sequence of them is often nearly a response. */
const PARTS = [
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 204 No Content\r\n',
  'HTTP/1.1 103 Early Hints\r\n',
  'HTTP/1.0 200 OK\r\n',
  'HTTP/1.1 304 \r\n',
  'content-length: 5\r\n',
  'content-length: 0\r\n',
  'Content-Length: 05\r\n',
  'transfer-encoding: chunked\r\n',
  'Transfer-Encoding:\tchunked \r\n',
  'connection: close\r\n',
  'connection: keep-alive\r\n',
  'x: y\r\n',
  'x: "a, b"; c\r\n',
  'upgrade: h2c\r\n',
  '\r\n',
  '\r\n',
  'hello',
  '5\r\nhello\r\n',
  '5;a=b\r\nhello\r\n',
  '0\r\n',
  '0\r\n\r\n',
  '\n',
  '\r',
  ' ',
  '\t',
  ':',
  ',',
  '\0',
  '\x7f',
  'é',
] as const;

const anyResponse = fc
  .oneof(
    // A response, of which some bytes are replaced, removed or inserted.
    fc
      .tuple(
        fc.constantFrom(
          'HTTP/1.1 200 OK\r\n',
          'HTTP/1.0 404 \r\n',
          'HTTP/1.1 103 E\r\n\r\nHTTP/1.1 500 E\r\n',
          'HTTP/1.1 103 E\r\nconnection: x\r\n\r\nHTTP/1.1 500 E\r\n',
          'HTTP/1.0 103 E\r\n\r\nHTTP/1.1 500 E\r\n',
        ),
        fc.array(fc.constantFrom(...PARTS.slice(10, 15)), { maxLength: 3 }).map((lines) => lines.join('')),
        fc.constantFrom(
          'content-length: 5\r\n\r\nhello',
          'transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n3;x\r\nabc\r\n0\r\n\r\n',
          'transfer-encoding: chunked\r\n\r\n0\r\nt: u\r\n\r\n',
          '\r\nhello',
        ),
        fc.array(fc.tuple(fc.nat(200), fc.nat(2), fc.constantFrom(...PARTS)), { maxLength: 3 }),
      )
      .map(([line, lines, rest, edits]) =>
        edits.reduce(
          (text, [at, removed, part]) => {
            const place = at % (text.length + 1);
            return text.slice(0, place) + part + text.slice(place + removed);
          },
          line + lines + rest,
        ),
      ),
    fc.array(fc.constantFrom(...PARTS), { maxLength: 12 }).map((parts) => parts.join('')),
  )
  .map((text) => Buffer.from(text, 'latin1'));

describe('any bytes', () => {
  test('have the same reading in any pieces', () => {
    fc.assert(
      fc.property(
        anyResponse,
        fc.array(fc.nat(300), { maxLength: 4 }),
        fc.constantFrom('POST', 'HEAD'),
        (bytes, cuts, method) => {
          const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
          const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
          expect(read(pieces, method)).toEqual(read([bytes], method));
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('that are accepted are a response to llhttp as well, with the same status, headers and body', async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(anyResponse, fc.constantFrom('POST', 'HEAD'), async (bytes, method) => {
        const found = read([bytes], method);
        if (found === 'invalid') return;
        accepted += 1;
        const { persists, ...reading } = found;
        expect(await readByNode(withoutRest(bytes, method), method)).toEqual(reading);
        expect(persists && withoutRest(bytes, method).length < bytes.length).toBe(false);
      }),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(300);
  });
});
