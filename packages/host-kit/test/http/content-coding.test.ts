import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type Host } from '@svc/host-kit';
import { toNodeListener } from '@svc/host-kit/node';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { asDescribed } from '@svc/tools/as-described';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptedCodings, CODINGS } from '../../src/http/content-coding.ts';

const KEY = 'operator-key-of-this-test-0123456789';
const listener: { host?: Host; close: () => Promise<void>; url: string } = { close: async () => {}, url: '' };

beforeAll(async () => {
  const record = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: 'all', principal: 'p_1' } as const;
  const scopes = ['runs:create', 'runs:read', 'webhooks:manage'];
  const host = createHost({
    store: memoryStore(),
    authenticate: [apiKeyLane({ keys: memoryKeyStore([{ ...record, scopes, mode: 'live' }]) })],
    engine: async () => ({}),
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true },
  });
  await host.start();
  const server = createServer(toNodeListener(host));
  // A slow machine may leave a connection idle for longer than the default of 5 s, and `fetch` would find it closed.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  listener.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  listener.close = async () => {
    server.closeAllConnections();
    server.close();
    await host.stop(1000);
  };
});
afterAll(() => listener.close());

/** Sends a request, and returns the encoded bytes, which `fetch` would decode. */
function raw(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const given = { authorization: `Bearer ${KEY}`, 'svc-version': '2', ...headers };
  return new Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer }>((resolve, reject) => {
    httpRequest(listener.url + path, { method, headers: given }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
    })
      .on('error', reject)
      .end();
  });
}

const send = asDescribed(fetch);

async function createdRun(metadata: object): Promise<string> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ workflowId: 'any', metadata });
  const response = await send(`${listener.url}/v1/runs`, { method: 'POST', headers, body });
  expect(response.status).toBe(201);
  return ((await response.json()) as { runId: string }).runId;
}

const DECODE = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync } as const;

describe(covers('operations.encodings.negotiated'), () => {
  test.each<[string | null, readonly string[]]>([
    [null, []],
    ['', []],
    ['identity', []],
    ['gzip', ['gzip']],
    ['x-gzip', ['gzip']],
    ['GZIP', ['gzip']],
    ['gzip, deflate, br, zstd', ['zstd', 'br', 'gzip']],
    ['gzip;q=1.0, br;q=0.8, zstd;q=0', ['gzip', 'br']],
    ['br;q=0.5, gzip;q=0.5', ['br', 'gzip']],
    ['*', ['zstd', 'br', 'gzip']],
    ['*;q=0.1, gzip', ['gzip', 'zstd', 'br']],
    ['*;q=0, br', ['br']],
    ['gzip;q=0', []],
    ['identity;q=1, gzip;q=0.5', []],
    ['identity;q=0.5, gzip', ['gzip']],
    ['deflate, compress', []],
    ['gzip;q=2, br;q=x, zstd;level=3', []],
    ['gzip ; q=0.001', ['gzip']],
    [',,;,;q=1,gzip', ['gzip']],
  ])('%s: %j', (header, expected) => expect(acceptedCodings(header, CODINGS)).toEqual(expected));
});

describe(covers('operations.encodings.coded'), () => {
  test.each(CODINGS)('%s decodes to the plain answer', async (coding) => {
    const plain = await raw('/openapi.json');
    const coded = await raw('/openapi.json', { 'accept-encoding': coding });
    expect([plain.headers['content-encoding'], coded.headers['content-encoding']]).toEqual([undefined, coding]);
    expect(DECODE[coding](coded.body).equals(plain.body)).toBe(true);
    expect(coded.body.length).toBeLessThan(plain.body.length / 3);
    for (const { headers } of [plain, coded]) expect(headers.vary).toBe('SVC-Version, Accept-Encoding');
    expect(Number(coded.headers['content-length'])).toBe(coded.body.length);
  });

  test('encodes a body that is made for the request', async () => {
    const runId = await createdRun({ text: 'é'.repeat(5000) });
    const plain = await raw(`/v1/runs/${runId}`, { 'svc-version': '1' });
    const coded = await raw(`/v1/runs/${runId}`, { 'svc-version': '1', 'accept-encoding': 'br' });
    expect(brotliDecompressSync(coded.body).equals(plain.body)).toBe(true);
  });

  test('sends a short body without encoding', async () => {
    const runId = await createdRun({});
    const short = await raw(`/v1/runs/${runId}`, { 'svc-version': '1', 'accept-encoding': 'gzip' });
    expect([short.status, short.headers['content-encoding'], short.headers.vary]).toEqual([200, undefined, undefined]);
  });

  test('sends the same headers for HEAD as for GET', async () => {
    for (const headers of [{}, { 'accept-encoding': 'zstd' }]) {
      const [get, head] = await Promise.all([raw('/openapi.json', headers), raw('/openapi.json', headers, 'HEAD')]);
      expect(head.body).toHaveLength(0);
      expect({ ...head.headers, date: '' }).toEqual({ ...get.headers, date: '' });
    }
  });
});

describe(covers('operations.encodings.validators'), () => {
  test('gives each coding a strong validator of its own', async () => {
    const tags = new Map<string, string>();
    for (const coding of ['identity', ...CODINGS]) {
      const { headers } = await raw('/openapi.json', { 'accept-encoding': coding });
      tags.set(coding, headers.etag ?? '');
      expect(headers.etag).toMatch(/^"[\w~-]+"$/);
    }
    expect(new Set(tags.values()).size).toBe(4);
    for (const [coding, tag] of tags) {
      const again = await raw('/openapi.json', { 'accept-encoding': coding, 'if-none-match': tag });
      expect([again.status, again.headers.etag, again.body.length]).toEqual([304, tag, 0]);
      expect(again.headers.vary).toBe('SVC-Version, Accept-Encoding');
    }
    const gzip = tags.get('gzip') ?? '';
    const elsewhere = await raw('/openapi.json', { 'accept-encoding': 'br', 'if-none-match': gzip });
    expect([elsewhere.status, elsewhere.headers['content-encoding']]).toEqual([200, 'br']);
    expect((await raw('/openapi.json', { 'if-none-match': gzip })).status).toBe(200);
  });

  test('answers 304 with the matching one of several tags', async () => {
    const [plain, gzip] = await Promise.all(
      ['identity', 'gzip'].map(
        async (coding) => (await raw('/openapi.json', { 'accept-encoding': coding })).headers.etag,
      ),
    );
    const named = `"other", ${plain}, ${gzip}`;
    const asked = await raw('/openapi.json', { 'accept-encoding': 'gzip', 'if-none-match': `"other", ${gzip}` });
    expect([asked.status, asked.headers.etag]).toEqual([304, gzip]);
    expect((await raw('/openapi.json', { 'if-none-match': named })).headers.etag).toBe(plain);
    expect((await raw('/openapi.json', { 'if-none-match': '*' })).headers.etag).toBe(plain);
  });
});

test(covers('operations.encodings.advertised'), async () => {
  for (const version of ['1', '2']) {
    const response = await send(`${listener.url}/.well-known/svc`, { headers: { 'svc-version': version } });
    expect(await response.json()).toMatchObject({ restTransport: { contentEncodings: ['zstd', 'br', 'gzip'] } });
  }
});

describe(covers('operations.encodings.request-415'), () => {
  test.each([
    ['gzip', 415],
    ['zstd', 415],
    ['deflate, gzip', 415],
    ['nonsense', 415],
    ['identity', 201],
  ])('%s: %i', async (coding, status) => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', 'content-encoding': coding };
    const json = Buffer.from(JSON.stringify({ workflowId: 'any' }));
    const body = coding === 'gzip' ? gzipSync(json) : json;
    const response = await send(`${listener.url}/v1/runs`, { method: 'POST', headers, body });
    expect(response.status).toBe(status);
    if (status === 415) {
      expect(response.headers.get('accept-encoding')).toBe('identity');
      expect(await response.json()).toMatchObject({ error: 'unsupported_media_type' });
    }
  });
});
