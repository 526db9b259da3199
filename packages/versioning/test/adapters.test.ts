import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { afterEach, describe, expect, test } from 'vitest';
import { versioning as expressVersioning } from '../src/adapters/express.ts';
import { versioning as fastifyVersioning } from '../src/adapters/fastify.ts';
import { versioning as fetchVersioning } from '../src/adapters/fetch.ts';
import { versioning as honoVersioning } from '../src/adapters/hono.ts';
import { versioning as nodeVersioning } from '../src/adapters/node.ts';
import type { NegotiatedOperation, VersioningOptions } from '../src/adapters/verdict.ts';
import { served } from '../src/index.ts';

const protocol = served({ versions: ['1.1', '2.0'], preferred: '1.1', minClientVersion: '1.2' });
const retirement = { deprecatedAt: new Date('2026-01-01T00:00:00Z') };

type Send = (path: string, init?: RequestInit) => Promise<Response>;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listening(server: Server): Promise<string> {
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const overSocket = async (listener: RequestListener): Promise<Send> => {
  const url = await listening(createServer(listener));
  return (path, init) => fetch(url + path, init);
};

const described = ({ major, operation, params }: NegotiatedOperation) =>
  JSON.stringify([major, operation.operationId, params]);

const ADAPTERS: { name: string; open: (options: VersioningOptions) => Promise<Send> }[] = [
  {
    name: 'fetch',
    open: async (options) => {
      const handle = fetchVersioning({
        ...options,
        operation: (_request, negotiation) => new Response(described(negotiation)),
        foreign: () => new Response('foreign'),
      });
      return (path, init) => handle(new Request(`http://x${path}`, init));
    },
  },
  {
    name: 'Hono',
    open: async (options) => {
      const app = new Hono();
      app.use(honoVersioning(options));
      app.all('*', (context) => {
        const svc = context.get('svc');
        return context.text(svc === undefined ? 'foreign' : described(svc));
      });
      return async (path, init) => app.request(path, init);
    },
  },
  {
    name: 'node:http',
    open: (options) => {
      const negotiate = nodeVersioning(options);
      return overSocket((request, response) => {
        const found = negotiate(request, response);
        if (found !== 'answered') response.end(found === 'foreign' ? 'foreign' : described(found));
      });
    },
  },
  {
    name: 'Express',
    open: (options) => {
      const app = express().use(expressVersioning(options));
      app.use((request, response) => {
        response.end(request.svc === undefined ? 'foreign' : described(request.svc));
      });
      return overSocket(app);
    },
  },
  {
    name: 'Fastify',
    open: async (options) => {
      const app = Fastify();
      await app.register(fastifyVersioning(options));
      app.all('/*', async ({ svc }) => (svc === undefined ? 'foreign' : described(svc)));
      await app.listen({ port: 0, host: '127.0.0.1' });
      closing.push(() => app.close());
      return (path, init) => fetch(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}${path}`, init);
    },
  },
];

describe.each(ADAPTERS)('$name', ({ open }) => {
  test.each([
    ['/runs', { method: 'POST' }, '1.1', '[1,"createRun",{}]'],
    ['/runs', { method: 'POST', headers: { 'SVC-Version': '2' } }, '2.0', '[2,"createRun",{}]'],
    ['/v1/runs/a%2Fb?x=1', {}, '1.1', '[1,"readRun",{"runId":"a%2Fb"}]'],
    ['/elsewhere', { headers: { 'SVC-Version': '2' } }, null, 'foreign'],
    ['/host/acme/tools', { headers: { 'SVC-Version': '9' } }, null, 'foreign'],
  ])('passes %s %j to the application', async (path, init, version, body) => {
    const send = await open({ served: protocol });
    const answer = await send(path, init);
    expect([answer.status, answer.headers.get('svc-version'), await answer.text()]).toEqual([200, version, body]);
  });

  test.each([
    [
      '/runs',
      { headers: { 'SVC-Version': '3' } },
      406,
      '1.1',
      { error: 'protocol_version_unsupported', details: { protocolVersions: ['1.1', '2.0'] } },
    ],
    ['/v1/runs', { headers: { 'SVC-Version': '2' } }, 400, '1.1', { error: 'protocol_version_mismatch' }],
    [
      '/runs',
      { headers: { 'SVC-Client-Version': '1.0' } },
      426,
      '1.1',
      { error: 'client_version_unsupported', details: { minClientVersion: '1.2' } },
    ],
    [
      '/v1/runs',
      {},
      405,
      '1.1',
      {
        error: 'validation_error',
        message: 'This path takes POST. Major 2 has the operation: send GET /runs with SVC-Version: 2.',
        details: { fields: [{ field: 'method', problem: 'must be POST' }] },
      },
    ],
    ['/v1/host/effect-seams', {}, 404, '1.1', { error: 'not_found' }],
    ['/runs', { method: 'PUT', headers: { 'SVC-Version': '2' } }, 405, '2.0', { error: 'validation_error' }],
  ])('rejects %s %j without calling the application', async (path, init, status, version, body) => {
    const send = await open({ served: protocol });
    const answer = await send(path, init);
    expect([answer.status, answer.headers.get('svc-version')]).toEqual([status, version]);
    expect(await answer.json()).toMatchObject(body);
    expect(answer.headers.get('content-type')).toContain('application/json');
    if (status === 405) expect(answer.headers.get('allow')).toBe(version === '1.1' ? 'POST' : 'POST, GET, HEAD');
  });

  test('announces the retirement only on responses of major 1', async () => {
    const send = await open({ served: protocol, retirement });
    expect((await send('/v1/runs/r')).headers.get('deprecation')).toBe('@1767225600');
    expect((await send('/v1/runs')).headers.get('deprecation')).toBe('@1767225600');
    expect((await send('/runs/r', { headers: { 'SVC-Version': '2' } })).headers.get('deprecation')).toBeNull();
    expect((await send('/elsewhere')).headers.get('deprecation')).toBeNull();
  });
});

test('judges the raw request target, before a framework normalises it', async () => {
  const negotiate = nodeVersioning({ served: protocol });
  const url = await listening(
    createServer((request, response) => {
      const found = negotiate(request, response);
      if (found !== 'answered') response.end(found === 'foreign' ? 'foreign' : described(found));
    }),
  );
  const { port } = new URL(url);
  const ask = (target: string, ...lines: string[]) =>
    new Promise<string>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.write(
        `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`,
      );
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text.split('\r\n')[0] ?? ''));
    });
  expect(await ask('/v1/../runs/r')).toBe('HTTP/1.1 400 Bad Request');
  expect(await ask('//runs/r')).toBe('HTTP/1.1 400 Bad Request');
  expect(await ask('/runs/r/')).toBe('HTTP/1.1 400 Bad Request');
  expect(await ask('/runs/r', 'SVC-Version: 2', 'SVC-Version: 2')).toBe('HTTP/1.1 406 Not Acceptable');
  expect(await ask('/runs/r', 'SVC-Version: 2')).toBe('HTTP/1.1 200 OK');
});
