import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EgressError } from '../src/errors.ts';
import { type GuardedStream, type GuardedStreamOptions, guardedStream } from '../src/node/stream.ts';
import { Internet } from './internet.ts';

let internet: Internet;

beforeEach(() => {
  internet = new Internet();
  internet.names.set('hooks.example', ['9.9.9.1']);
  internet.names.set('other.example', ['9.9.9.1']);
  internet.names.set('inside.example', ['10.0.0.1']);
});
afterEach(() => internet.close());

function stream(over: Partial<GuardedStreamOptions> = {}): GuardedStream {
  return guardedStream({ ...internet.options(), ...over });
}

/** Returns the code and the reason of a failure. */
async function failure(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  return error instanceof EgressError ? `${error.code}: ${error.reason}` : String(error);
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('a stream', () => {
  test('delivers chunks while the response goes on, and ends with it', async () => {
    let end = () => {};
    const port = await internet.secure((request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'x-sent': String(request.headers.accept) });
      response.write('one');
      end = () => response.end('two');
    });
    const opened = await stream()(`https://hooks.example:${port}/a?b=1`, { headers: { accept: 'text/plain' } });
    expect([opened.status, opened.headers.get('x-sent'), opened.url]).toEqual([
      200,
      'text/plain',
      `https://hooks.example:${port}/a?b=1`,
    ]);
    const seen: string[] = [];
    for await (const chunk of opened.body) {
      seen.push(Buffer.from(chunk).toString());
      if (seen.length === 1) end();
    }
    expect(seen).toEqual(['one', 'two']);
    await internet.untilOpen(0);
  });

  test('returns a response without a body', async () => {
    const port = await internet.secure((_request, response) => response.writeHead(204).end());
    const { status, body } = await stream()(`https://hooks.example:${port}/`);
    expect([status, await textOf(body)]).toEqual([204, '']);
  });

  test('lets the server wait while its caller does not read', async () => {
    const total = 32 * 1024 * 1024;
    let sent = 0;
    const port = await internet.secure((_request, response) => {
      const write = () => {
        while (sent < total) {
          sent += 65_536;
          if (!response.write(Buffer.alloc(65_536))) return void response.once('drain', write);
        }
        response.end();
      };
      write();
    });
    const { body } = await stream()(`https://hooks.example:${port}/`);
    // The server sends until all buffers on the way are full, which hold less than the response.
    for (let before = -1; before < sent; ) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(sent).toBeLessThan(total);
    let read = 0;
    for await (const chunk of body) read += chunk.length;
    expect(read).toBe(total);
  });
});

describe('a redirect', () => {
  test('is followed, and takes no credential along to another origin', async () => {
    const seen: unknown[] = [];
    const answer: RequestListener = (request, response) => {
      seen.push([request.headers.host, request.headers['x-key'], request.headers['last-event-id']]);
      if (request.url === '/') response.writeHead(302, { location: '/own' }).end();
      else if (request.url === '/own')
        response.writeHead(307, { location: `https://other.example:${other}/end` }).end();
      else response.end('end');
    };
    const port = await internet.secure(answer);
    const other = await internet.secure(answer, 'other');
    const headers = { 'x-key': 'secret', 'last-event-id': '7' };
    const { url, body } = await stream()(`https://hooks.example:${port}/`, { headers });
    expect([url, await textOf(body)]).toEqual([`https://other.example:${other}/end`, 'end']);
    expect(seen).toEqual([
      [`hooks.example:${port}`, 'secret', '7'],
      [`hooks.example:${port}`, 'secret', '7'],
      [`other.example:${other}`, undefined, '7'],
    ]);
  });

  test.each([
    ['an address of this network', 'https://10.0.0.1/', 'url_rejected: host_not_allowed'],
    ['a name that resolves to one', 'https://inside.example/', 'destination_unavailable: private'],
    ['plain HTTP', 'http://other.example/', 'url_rejected: scheme_not_https'],
    ['no URL', 'https://[', 'url_rejected: malformed_url'],
  ])('to %s is refused', async (_what, location, expected) => {
    const port = await internet.secure((_request, response) => response.writeHead(302, { location }).end());
    expect(await failure(stream()(`https://hooks.example:${port}/`))).toBe(expected);
    await internet.untilOpen(0);
  });

  test('of a chain of redirects ends it at the limit', async () => {
    const port = await internet.secure((_request, response) => response.writeHead(302, { location: '/' }).end());
    expect(await failure(stream({ maxRedirects: 2 })(`https://hooks.example:${port}/`))).toBe(
      'redirect_refused: too-many-redirects',
    );
    expect(internet.dialled).toHaveLength(3);
  });
});

describe('a hostile server', () => {
  test('that compresses is refused', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const port = await internet.secure((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    });
    expect(await failure(stream()(`https://hooks.example:${port}/`))).toBe('response_encoded: content-encoding');
    await internet.untilOpen(0);
  });

  test('that never begins its response is left', async () => {
    const port = await internet.secure(() => {});
    expect(await failure(stream({ openTimeoutMs: 200 })(`https://hooks.example:${port}/`))).toBe('timeout: deadline');
  });

  test('that falls silent is left', async () => {
    const port = await internet.secure((_request, response) => response.write('one'));
    const { body } = await stream({ idleMs: 200 })(`https://hooks.example:${port}/`);
    expect(await failure(textOf(body))).toBe('timeout: idle');
    await internet.untilOpen(0);
  });

  test('that breaks off is told from one that ends', async () => {
    const port = await internet.secure((_request, response) => {
      response.write('one');
      setImmediate(() => response.destroy());
    });
    const { body } = await stream()(`https://hooks.example:${port}/`);
    expect(await failure(textOf(body))).toMatch(/^protocol_error: /);
  });
});

describe('the signal of the caller', () => {
  test('ends a stream that is open', async () => {
    const port = await internet.secure((_request, response) => response.write('one'));
    const end = new AbortController();
    const { body } = await stream()(`https://hooks.example:${port}/`, { signal: end.signal });
    const read = failure(textOf(body));
    end.abort();
    expect(await read).toBe('aborted: signal');
    await internet.untilOpen(0);
  });

  test('ends a stream that is not open yet', async () => {
    expect(await failure(stream()('https://hooks.example/', { signal: AbortSignal.abort() }))).toBe('aborted: signal');
    expect(internet.dialled).toEqual([]);
  });
});

test('a header that the guard sets is a TypeError', async () => {
  await expect(stream()('https://hooks.example/', { headers: { host: 'x' } })).rejects.toThrow(TypeError);
});
