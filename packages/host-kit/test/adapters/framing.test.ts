import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type Host } from '@svc/host-kit';
import { answerParserErrors, hostServer, refuseMalformed, toNodeListener } from '@svc/host-kit/node';
import { memoryStore } from '@svc/host-kit/stores/memory';
import {
  exchange,
  exchangeText,
  LARGE_BODY,
  LATE_HEAD,
  MALFORMED_REQUESTS,
  type MalformedRequest,
  problemsOf,
} from '@svc/tools/malformed-requests';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let host: Host;
const ports = new Map<string, number>();
const servers: Server[] = [];

beforeAll(async () => {
  host = createHost({
    store: memoryStore(),
    authenticate: [apiKeyLane({ keys: memoryKeyStore([]) })],
    engine: async () => ({}),
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true },
    protocol: { versions: ['1.1', '2.0'], preferred: '1.1' },
  });
  await host.start();
  for (const [name, create] of [
    ['hostServer', () => hostServer(toNodeListener(host))],
    ['createServer', () => createServer(toNodeListener(host))],
    ['refuseMalformed', () => hostServer(refuseMalformed(host, toNodeListener(host)))],
  ] as const) {
    const server = create();
    answerParserErrors(server, host);
    ports.set(name, await listening(server));
  }
});
async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await host.stop(100);
});

const portOf = (server: string) => ports.get(server) ?? 0;
const json = 'content-type: application/json';
const CHUNKED = '2\r\n{}\r\n0\r\n\r\n';

/** Node itself refuses a request without Host on its own servers. */
const expectedOn = (server: string, request: MalformedRequest): MalformedRequest => {
  const { version, ...rest } = request;
  return server === 'createServer' && request.name === 'no Host line' ? rest : request;
};

describe.each(['hostServer', 'createServer', 'refuseMalformed'])('on a server of %s', (server) => {
  test.each(MALFORMED_REQUESTS)('a request with $name is answered once, and stamped', async (request) => {
    expect(problemsOf(await exchange(portOf(server), request), expectedOn(server, request))).toEqual([]);
  });

  test('answers of a connection keep the order of its requests', async () => {
    const first = ['GET /v1/runs/x HTTP/1.1', 'host: a', '', ''].join('\r\n');
    const answer = await exchange(portOf(server), {
      lines: [`${first}${first}GET /runs/y HTTP/1.1`, 'svc-version: 2', 'no colon'],
    });
    const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
    const stamps = [...answer.matchAll(/\r\nsvc-version: (\S+)/gi)].map(([, version]) => version);
    expect([statuses, stamps]).toEqual([
      ['401', '401', '400'],
      ['1.1', '1.1', '2.0'],
    ]);
  });

  test('a body that is not chunked as it says is answered once, and stamped', async () => {
    const lines = ['POST /runs HTTP/1.1', 'host: a', 'svc-version: 2', json, 'transfer-encoding: chunked'];
    const answer = await exchange(portOf(server), { lines, body: 'zz\r\n{}\r\n' });
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(answer).toMatch(/^HTTP\/1\.1 40[01] [\s\S]*\r\nsvc-version: 2\.0\r\n/i);
  });

  test('a request for a public document with two Host lines is rejected', async () => {
    const answer = await exchange(portOf(server), {
      lines: ['GET /host/example/livez HTTP/1.1', 'host: a', 'host: b'],
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('a request with Transfer-Encoding: Chunked is read', async () => {
    const lines = ['POST /v1/runs HTTP/1.1', 'host: a', json, 'connection: close', 'transfer-encoding: Chunked'];
    expect(await exchange(portOf(server), { lines, body: CHUNKED })).toMatch(/^HTTP\/1\.1 401 /);
  });
});

test.each(['hostServer', 'refuseMalformed'])(
  'on a server of %s, an announced body above the limit is rejected, and its client is not told to go on',
  async (server) => expect(problemsOf(await exchange(portOf(server), LARGE_BODY), LARGE_BODY)).toEqual([]),
);

describe('a request that arrives too late', () => {
  /** Its listener answers nothing: the time of the request ends first. */
  async function answerOf(text: string): Promise<string> {
    const server = hostServer(() => {}, { headersTimeoutMs: 300, requestTimeoutMs: 300 });
    answerParserErrors(server, host);
    const port = await listening(server);
    return exchangeText(port, text);
  }

  test('is answered with its status alone when its head did not end', async () => {
    expect(problemsOf(await answerOf(LATE_HEAD.text), LATE_HEAD)).toEqual([]);
  });

  test('is stamped when its head was read', async () => {
    const lines = ['POST /runs HTTP/1.1', 'host: a', 'svc-version: 2', json, 'content-length: 2', '', '{'];
    expect(problemsOf(await answerOf(lines.join('\r\n')), { status: 408, version: '2.0' })).toEqual([]);
  });
});
