import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { authenticator, authorize, refusal } from '@svc/auth';
import { apiKeyLane, memoryKeyStore, mintApiKey } from '@svc/auth/api-key';
import { memoryRateLimiter, rateLimitHeaders } from '@svc/auth/rate-limit';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const { key, hash } = mintApiKey({ mode: 'live', randomBytes: (size) => new Uint8Array(randomBytes(size)) });
const record = {
  id: 'key_1',
  hash,
  tenant: 'acme',
  workspaces: 'all',
  principal: 'p_1',
  scopes: ['runs:read'],
  mode: 'live',
} as const;
/** The clock stands still, so that no limit is granted again while a busy machine is slow. */
const now = () => Date.UTC(2026, 5, 1);
const auth = authenticator({ lanes: [apiKeyLane({ keys: memoryKeyStore([record]), now })] });
const limiter = memoryRateLimiter({ limit: 1000, windowSeconds: 60, now });

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.writeHead(500).end());
});

/** The scope that an operation needs is its path. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const outcome = await auth.authenticate(request);
  if (outcome.kind === 'refused') return refuse(response, outcome.error);
  const rate = await limiter.consume(outcome.principal.credentialId);
  if (!rate.allowed) return refuse(response, rate.error);
  const decision = authorize(outcome.principal, (request.url ?? '').slice(1));
  if (!decision.allowed) return refuse(response, decision.error);
  response.writeHead(200, rateLimitHeaders(rate)).end(outcome.principal.id);
}

function refuse(response: ServerResponse, error: Parameters<typeof refusal>[0]): void {
  const { status, headers, body } = refusal(error);
  response.writeHead(status, headers).end(body);
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

function get(path: string, ...authorization: readonly string[]): Promise<Answer> {
  const { port } = server.address() as AddressInfo;
  const headers = ['host', `127.0.0.1:${port}`, ...authorization.flatMap((value) => ['authorization', value])];
  return new Promise((resolve, reject) => {
    send({ host: '127.0.0.1', port, path, headers }, async (response) => {
      const chunks = await response.setEncoding('utf8').toArray();
      resolve({ status: response.statusCode, headers: response.headers, body: chunks.join('') });
    })
      .on('error', reject)
      .end();
  });
}

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

describe(covers('auth.api-key.bearer-header', 'auth.models.api-keys-for-machines'), () => {
  test('serves a request with a key', async () => {
    const { status, headers, body } = await get('/runs:read', `Bearer ${key}`);
    expect({ status, body }).toEqual({ status: 200, body: 'p_1' });
    expect(headers.ratelimit).toMatch(/^"default";r=9\d\d;t=\d+$/);
  });
});

describe(covers('auth.api-key.doubled-header-401'), () => {
  test('refuses two Authorization headers, each of them valid', async () => {
    const { status, body } = await get('/runs:read', `Bearer ${key}`, `Bearer ${key}`);
    expect(status).toBe(401);
    expect(JSON.parse(body)).toMatchObject({ error: 'unauthenticated' });
  });
});

describe(covers('auth.challenge.every-401', 'auth.api-key.missing-or-malformed-401'), () => {
  test('no header', async () => {
    const { status, headers, body } = await get('/runs:read');
    expect({ status, challenge: headers['www-authenticate'] }).toEqual({ status: 401, challenge: 'Bearer' });
    expect(JSON.parse(body)).toMatchObject({ error: 'unauthenticated' });
  });

  test.each([
    ['an empty header', '', 'Bearer error="invalid_token"'],
    ['an unknown key', `Bearer ${'k'.repeat(40)}`, 'Bearer error="invalid_token"'],
    ['another scheme', `Basic ${key}`, 'Bearer'],
    ['a byte outside of ASCII', `Bearer ${key}\u00e9`, 'Bearer error="invalid_token"'],
    ['two spaces', `Bearer  ${key}`, 'Bearer error="invalid_token"'],
  ])('%s', async (_case, authorization, challenge) => {
    const { status, headers, body } = await get('/runs:read', authorization);
    expect({ status, challenge: headers['www-authenticate'] }).toEqual({ status: 401, challenge });
    expect(JSON.parse(body)).toMatchObject({ error: 'unauthenticated' });
    expect(body).not.toContain(key);
  });
});

describe(covers('auth.request.no-credential-in-url'), () => {
  test.each([`/runs:read?access_token=${key}`, `/runs:read?api_key=${key}&token=${key}`, `/${key}`])(
    'a key in the URL counts for nothing and comes back in nothing',
    async (path) => {
      const { status, headers, body } = await get(path);
      expect(status).toBe(401);
      expect(headers['www-authenticate']).toBe('Bearer');
      expect(body).not.toContain(key);
    },
  );
});

describe(covers('auth.api-key.missing-scope-403', 'auth.challenge.insufficient-scope'), () => {
  test('names the scope in the challenge and the body of the answer', async () => {
    const { status, headers, body } = await get('/audit:read', `Bearer ${key}`);
    expect(status).toBe(403);
    expect(headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="audit:read"');
    expect(JSON.parse(body)).toMatchObject({ error: 'forbidden', scopeRequired: 'audit:read' });
  });
});

describe('a Web request', () => {
  const request = (authorization: string) => new Request('http://127.0.0.1/', { headers: { authorization } });

  test('is authenticated without conversion', async () => {
    expect(await auth.authenticate(request(`Bearer ${key}`))).toMatchObject({ kind: 'authenticated' });
  });

  test('with two joined headers is refused', async () => {
    const doubled = request(`Bearer ${key}`);
    doubled.headers.append('authorization', `Bearer ${key}`);
    expect(await auth.authenticate(doubled)).toMatchObject({ kind: 'refused' });
  });
});
