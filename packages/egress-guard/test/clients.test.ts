import { request as httpRequest, type ServerResponse } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import axios from 'axios';
import got from 'got';
import { fetch as undiciFetch, request as undiciRequest } from 'undici';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { EgressError } from '../src/errors.ts';
import { type GuardedAgentsOptions, guardedAgents } from '../src/node/agents.ts';
import { guardedDispatcher } from '../src/node/dispatcher.ts';
import { egressPolicy } from '../src/policy.ts';
import { Internet } from './internet.ts';

let internet: Internet;
const closers: (() => unknown)[] = [];

beforeEach(() => {
  internet = new Internet();
  internet.names.set('hooks.example', ['9.9.9.1']);
  internet.names.set('other.example', ['9.9.9.1']);
  internet.names.set('inside.example', ['10.0.0.1']);
  internet.names.set('mixed.example', ['9.9.9.1', '169.254.169.254']);
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await internet.close();
});

interface Answer {
  readonly status: number;
  readonly text: string;
}

type Call = (
  url: string,
  init?: { readonly method?: string; readonly headers?: Record<string, string>; readonly signal?: AbortSignal },
) => Promise<Answer>;

function agents(over: Partial<GuardedAgentsOptions>) {
  const { policy, resolver, network } = internet.options();
  return guardedAgents({
    ...(policy && { policy }),
    ...(resolver && { resolver }),
    ...(network && { network }),
    ...over,
  });
}

function dispatcher(over: Partial<GuardedAgentsOptions>) {
  const { policy, resolver, network } = internet.options();
  const made = guardedDispatcher({
    ...(policy && { policy }),
    ...(resolver && { resolver }),
    ...(network && { network }),
    ...over,
  });
  closers.push(() => made.destroy());
  return made;
}

/** The HTTP clients that the guard supports. */
const CLIENTS: {
  readonly name: string;
  readonly follows: boolean;
  readonly open: (over: Partial<GuardedAgentsOptions>) => Call;
}[] = [
  {
    name: 'undici request',
    follows: false,
    open: (over) => {
      const guarded = dispatcher(over);
      return async (url, { method = 'GET', ...init } = {}) => {
        const { statusCode, body } = await undiciRequest(url, {
          dispatcher: guarded,
          method: method as 'GET',
          ...init,
        });
        return { status: statusCode, text: await body.text() };
      };
    },
  },
  {
    name: 'undici fetch',
    follows: true,
    open: (over) => {
      const guarded = dispatcher(over);
      return async (url, init = {}) => {
        const answer = await undiciFetch(url, { dispatcher: guarded, ...init });
        return { status: answer.status, text: await answer.text() };
      };
    },
  },
  {
    name: 'axios',
    follows: true,
    open: (over) => {
      const client = axios.create({
        ...agents(over),
        proxy: false,
        responseType: 'text',
        validateStatus: () => true,
        transformResponse: (text) => text,
      });
      return async (url, { method = 'GET', headers = {}, signal } = {}) => {
        const answer = await client.request({ url, method, headers, ...(signal && { signal }) });
        return { status: answer.status, text: String(answer.data) };
      };
    },
  },
  {
    name: 'got',
    follows: true,
    open: (over) => {
      const { httpAgent, httpsAgent } = agents(over);
      const client = got.extend({
        agent: { http: httpAgent, https: httpsAgent },
        retry: { limit: 0 },
        throwHttpErrors: false,
      });
      return async (url, { method = 'GET', headers = {}, signal } = {}) => {
        const answer = await client(url, { method: method as 'GET', headers, ...(signal && { signal }) });
        return { status: answer.statusCode, text: answer.body };
      };
    },
  },
  {
    name: 'node:https',
    follows: false,
    open: (over) => {
      const { httpAgent, httpsAgent } = agents(over);
      return (url, init = {}) =>
        url.startsWith('http:')
          ? nodeCall(httpRequest, url, { agent: httpAgent, ...init })
          : nodeCall(httpsRequest, url, { agent: httpsAgent, ...init });
    },
  },
];

function nodeCall(
  send: typeof httpRequest | typeof httpsRequest,
  url: string,
  options: RequestOptions,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = send(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    request.on('error', reject);
    request.end();
  });
}

/** Returns the code of the guard's error, at any depth of `cause`; `refused` for an error of the client itself. */
async function failure(promise: Promise<unknown>): Promise<string> {
  let error: unknown = await promise.then(
    () => 'nothing',
    (error: unknown) => error,
  );
  for (let depth = 0; depth < 5 && error instanceof Error; depth += 1) {
    if (error instanceof EgressError) return error.code;
    if (error.cause === undefined) return `refused: ${error.message}`;
    error = error.cause;
  }
  return String(error);
}

describe.each(CLIENTS)('$name', ({ follows, open }) => {
  test('calls a public host over a new connection each time', async () => {
    const seen: unknown[] = [];
    const port = await internet.secure((request, response) => {
      seen.push([request.method, request.url, request.headers.host, request.headers['accept-encoding']]);
      response.end('answer');
    });
    const call = open({});
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(await call(`https://hooks.example:${port}/path?q=1`)).toEqual({ status: 200, text: 'answer' });
    }
    expect(seen).toEqual(Array(2).fill(['GET', '/path?q=1', `hooks.example:${port}`, 'identity']));
    expect(internet.resolved).toEqual(['hooks.example', 'hooks.example']);
    expect(internet.dialled).toEqual(['9.9.9.1', '9.9.9.1']);
    await internet.untilOpen(0);
  });

  test.each([
    ['https://169.254.169.254/latest/meta-data/', 'url_rejected'],
    ['https://127.0.0.1/', 'url_rejected'],
    ['https://[::1]/', 'url_rejected'],
    ['https://[::ffff:127.0.0.1]/', 'url_rejected'],
    ['https://0x7f.1/', 'url_rejected'],
    ['https://localhost/', 'url_rejected'],
    ['https://metadata/', 'url_rejected'],
    ['http://hooks.example/', 'url_rejected'],
    ['https://inside.example/', 'destination_unavailable'],
    ['https://mixed.example/', 'destination_unavailable'],
    ['https://nowhere.example/', 'destination_unavailable'],
  ])('%s: %s', async (url, code) => {
    expect(await failure(open({})(url))).toBe(code);
    expect(internet.dialled).toEqual([]);
  });

  test('rejects a certificate for another name', async () => {
    const port = await internet.secure((_request, response) => response.end(), 'other');
    expect(await failure(open({})(`https://hooks.example:${port}/`))).toBe('tls_failed');
  });

  test('judges the addresses of a name anew for each call', async () => {
    const port = await internet.secure((_request, response) => response.end('answer'));
    const answers = [['9.9.9.1'], ['127.0.0.1']];
    internet.names.set('hooks.example', () => answers.shift() ?? []);
    const call = open({});
    expect((await call(`https://hooks.example:${port}/`)).status).toBe(200);
    expect(await failure(call(`https://hooks.example:${port}/`))).toBe('destination_unavailable');
  });

  test('rejects a redirect to an internal address', async () => {
    const port = await internet.secure((_request, response) =>
      response.writeHead(302, { location: 'https://127.0.0.1/' }).end(),
    );
    const call = open({})(`https://hooks.example:${port}/`);
    if (follows) expect(await failure(call)).toBe('url_rejected');
    else expect((await call).status).toBe(302);
    expect(internet.dialled).toEqual(['9.9.9.1']);
  });

  test('rejects a redirect to plain http', async () => {
    const port = await internet.secure((_request, response) =>
      response.writeHead(302, { location: 'http://hooks.example/' }).end(),
    );
    const call = open({})(`https://hooks.example:${port}/`);
    if (follows) expect(await failure(call)).toBe('url_rejected');
    else expect((await call).status).toBe(302);
  });

  test('fails for a response over the limit', async () => {
    const port = await internet.secure((_request, response) => response.end(Buffer.alloc(300_000)));
    expect(await failure(open({ maxResponseBytes: 100_000 })(`https://hooks.example:${port}/`))).toBe(
      'response_too_large',
    );
  });

  test('ignores the content-length of a response to HEAD', async () => {
    const port = await internet.secure((_request, response) =>
      response.writeHead(200, { 'content-length': 300_000 }).end(),
    );
    const answer = await open({ maxResponseBytes: 1000 })(`https://hooks.example:${port}/`, { method: 'HEAD' });
    expect(answer.status).toBe(200);
  });

  test('fails for a compressed response', async () => {
    const port = await internet.secure((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(1_000_000))),
    );
    expect(await failure(open({})(`https://hooks.example:${port}/`))).toBe('response_encoded');
  });

  const SLOW: [string, (socket: Socket) => void][] = [
    ['silence', () => {}],
    [
      'dripped headers',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx-a: ');
        drip(socket, 'a');
      },
    ],
    ['endless 1xx', (socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n')],
    [
      'an endless body',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
        drip(socket, 'x');
      },
    ],
  ];
  test.each(SLOW)('the deadline ends %s', async (_title, talk) => {
    const port = await internet.raw(talk);
    const call = open({ timeoutMs: 200, policy: egressPolicy({ allowLoopback: true }) })(`http://127.0.0.1:${port}/`);
    expect(await failure(call)).toMatch(/^(?:timeout|protocol_error)$/);
    await internet.untilOpen(0);
  });

  test('the signal of the caller ends a call, before and after it has a connection', async () => {
    let abort = new AbortController();
    const port = await internet.raw((socket) => socket.once('data', () => abort.abort()));
    const resolver = {
      resolve: () => {
        setImmediate(() => abort.abort());
        return new Promise<never>(() => {});
      },
    };
    for (const url of [`http://127.0.0.1:${port}/`, 'https://silent.example/']) {
      abort = new AbortController();
      // The deadline is longer than the time limit of the test, so only the signal can end the call.
      await expect(
        open({
          resolver,
          policy: egressPolicy({ allowLoopback: true }),
          timeoutMs: 600_000,
        })(url, { signal: abort.signal }),
      ).rejects.toThrow();
    }
  });

  test('does not send a host header of the caller', async () => {
    const seen: unknown[] = [];
    const port = await internet.secure((request, response) => {
      seen.push(request.headers.host);
      response.end();
    });
    const call = open({})(`https://hooks.example:${port}/`, { headers: { host: 'other.example' } });
    await call.catch(() => undefined);
    expect(seen.filter((host) => host !== `hooks.example:${port}`)).toEqual([]);
  });

  test('allowLoopback opens loopback, on its port only', async () => {
    const port = await internet.plain((_request, response) => response.end('local'));
    const call = open({ policy: egressPolicy({ allowLoopback: [port] }) });
    expect(await call(`http://127.0.0.1:${port}/`)).toEqual({ status: 200, text: 'local' });
    expect(await failure(call(`http://127.0.0.1:${port + 1}/`))).toBe('url_rejected');
  });
});

describe('an undici dispatcher ends like undici’s own dispatchers', () => {
  test('close waits for running requests, and rejects new ones', async () => {
    const responses: ServerResponse[] = [];
    const port = await internet.secure((_request, response) => void responses.push(response));
    const guarded = dispatcher({});
    const pending = undiciRequest(`https://hooks.example:${port}/`, { dispatcher: guarded }).then(({ body }) =>
      body.text(),
    );
    await vi.waitFor(() => expect(responses).toHaveLength(1), { timeout: 8000 });
    const closed = guarded.close();
    await expect(undiciRequest(`https://hooks.example:${port}/`, { dispatcher: guarded })).rejects.toThrow(/closed/);
    responses[0]?.end('late');
    expect(await pending).toBe('late');
    await closed;
    await internet.untilOpen(0);
  });

  test('destroy ends a request at every stage', async () => {
    const reached = vi.fn();
    const answering = await internet.secure(reached);
    const silent = await internet.raw((socket) => void socket.once('data', reached));
    const resolve = () => {
      reached();
      return new Promise<never>(() => {});
    };
    for (const [port, resolver] of [
      [answering, { resolve }],
      [silent, undefined],
      [answering, undefined],
    ] as const) {
      reached.mockClear();
      const guarded = dispatcher(resolver === undefined ? {} : { resolver });
      const pending = undiciRequest(`https://hooks.example:${port}/`, { dispatcher: guarded });
      const failed = expect(pending).rejects.toThrow(/destroyed/);
      await vi.waitFor(() => expect(reached).toHaveBeenCalled(), { timeout: 8000 });
      await guarded.destroy();
      await failed;
    }
    await internet.untilOpen(0);
  });
});

describe('an agent rejects or ignores', () => {
  test.each([
    ['a socket of the file system', { socketPath: '/var/run/docker.sock' }],
    [
      'a lookup of the caller’s',
      {
        lookup: (_name: string, _options: unknown, callback: (error: null, address: string, family: number) => void) =>
          callback(null, '127.0.0.1', 4),
      },
    ],
    ['certificates that are not checked', { rejectUnauthorized: false }],
    ['a name for TLS of the caller’s', { servername: 'other.example' }],
    ['a short form of an address', { host: '127.1' }],
    ['an address with its zone', { host: 'fe80::1%lo' }],
    ['no host', { host: '' }],
  ])('%s', async (_title, options) => {
    const port = await internet.secure((_request, response) => response.end('other'), 'other');
    const { httpsAgent } = agents({});
    const base = { host: 'hooks.example', port, path: '/', agent: httpsAgent };
    const code = await failure(
      new Promise((resolve, reject) => {
        httpsRequest({ ...base, ...options } as RequestOptions, resolve)
          .on('error', reject)
          .end();
      }),
    );
    expect(['url_rejected', 'tls_failed', 'destination_unavailable']).toContain(code);
  });
});

function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 15);
  socket.on('close', () => clearInterval(timer));
}
