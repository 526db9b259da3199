import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
import { type CorsOptions, createHost, type HostOptions } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { EXPOSED_HEADERS } from '../../src/http/cors.ts';
import { HEADERS } from '../../src/openapi/headers.ts';

const PAGE = 'https://console.example.com';

function hostWith(cors: CorsOptions | undefined, options: Partial<HostOptions> = {}) {
  return createHost({
    store: memoryStore(),
    authenticate: [apiKeyLane({ keys: memoryKeyStore([]) })],
    engine: async () => ({}),
    secretKey: new Uint8Array(32),
    ...options,
    http: { ...(cors !== undefined && { cors }), ...options.http },
    authorization: { hasWorkspace: () => true, ...options.authorization },
    features: { workspaceFiles: {}, ...options.features },
  });
}

async function answerTo(
  cors: CorsOptions | undefined,
  path: string,
  init: RequestInit,
  options?: Partial<HostOptions>,
) {
  const response = await hostWith(cors, options).fetch(new Request(`http://host.test${path}`, init));
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

function preflight(cors: CorsOptions | undefined, path: string, origin = PAGE) {
  const headers = { origin, 'access-control-request-method': 'POST' };
  return answerTo(cors, path, { method: 'OPTIONS', headers });
}

const grants = (headers: Record<string, string>) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

describe(covers('operations.http.cors'), () => {
  test.each(['/v1/runs', '/runs', '/v1/runs/run_unknown', '/host/example/status', '/host/example/nothing', '/x'])(
    'a preflight for %s of a permitted origin is answered 204 before authentication',
    async (path) => {
      const { status, headers, body } = await preflight({ origins: [PAGE], maxAgeSeconds: 60 }, path);
      expect([status, body]).toEqual([204, '']);
      expect(headers).toMatchObject({
        'access-control-allow-origin': PAGE,
        'access-control-allow-methods': 'GET, HEAD, POST, DELETE, PUT, PATCH',
        'access-control-max-age': '60',
        vary: 'Origin',
      });
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    },
  );

  test('a preflight names its version on the paths of the protocol alone', async () => {
    const versionOf = async (path: string) => (await preflight({ origins: [PAGE] }, path)).headers['svc-version'];
    expect(await versionOf('/v1/runs/run_unknown')).toBe('1.1');
    expect(await versionOf('/host/example/status')).toBeUndefined();
  });

  test('a preflight permits every request header of the API descriptions, and Authorization', async () => {
    const { headers } = await preflight({ origins: [PAGE] }, '/v1/runs');
    const permitted = new Set(headers['access-control-allow-headers']?.toLowerCase().split(', '));
    const declared: string[] = ['authorization', 'content-type', 'accept', 'dpop'];
    for (const path of ['/v1/openapi.json', '/openapi.json', '/host/example/openapi.json']) {
      const init = path === '/openapi.json' ? { headers: { 'svc-version': '2' } } : {};
      const document = JSON.parse((await answerTo(undefined, path, init)).body);
      const text = JSON.stringify([document.paths, document.components.parameters ?? {}]);
      declared.push(
        ...[...text.matchAll(/"name":"([^"]+)","in":"header"/g)].map(([, name = '']) => name.toLowerCase()),
      );
    }
    expect(declared.length).toBeGreaterThan(20);
    expect(declared.filter((name) => !permitted.has(name))).toEqual([]);
  });

  test('every header of the API descriptions may be read by scripts', () => {
    const safelisted = ['Cache-Control'];
    const known = [...EXPOSED_HEADERS, ...safelisted];
    expect(Object.keys(HEADERS).filter((name) => !known.includes(name))).toEqual([]);
  });

  test.each(['/v1/runs', '/host/example/nothing'])(
    'a preflight for %s of another origin permits nothing',
    async (path) => {
      const { status, headers } = await preflight({ origins: [PAGE] }, path, 'https://evil.example');
      expect([status, grants(headers), headers.vary]).toEqual([204, [], 'Origin']);
    },
  );

  test.each<[string, string, RequestInit, number]>([
    ['an answer', '/.well-known/svc', {}, 200],
    ['a refusal', '/v1/runs/run_1', {}, 401],
    ['a mount', '/host/example/status', {}, 401],
    ['a public document', '/host/example/livez', {}, 200],
    ['a path that does not exist', '/nothing', {}, 404],
  ])('the page of a permitted origin may read %s', async (_title, path, init, status) => {
    const answered = await answerTo({ origins: [PAGE] }, path, { ...init, headers: { origin: PAGE } });
    expect(answered.status).toBe(status);
    expect(answered.headers['access-control-allow-origin']).toBe(PAGE);
    expect(answered.headers['access-control-expose-headers']).toContain('SVC-Version');
    expect(answered.headers.vary).toMatch(/(^|, )Origin$/);
  });

  test.each([
    ['https://evil.example'],
    ['https://console.example.com.evil.example'],
    ['http://console.example.com'],
    ['https://console.example.com:8443'],
    ['null'],
  ])('the page of %s may read nothing, and caches tell the origins apart', async (origin) => {
    const { status, headers } = await answerTo({ origins: [PAGE] }, '/.well-known/svc', { headers: { origin } });
    expect([status, grants(headers)]).toEqual([200, []]);
    expect(headers.vary).toBe('SVC-Version, Accept-Encoding, Origin');
  });

  test('a request without an origin gets no permission', async () => {
    const { headers } = await answerTo({ origins: [PAGE] }, '/.well-known/svc', {});
    expect([grants(headers), headers.vary]).toEqual([[], 'SVC-Version, Accept-Encoding, Origin']);
  });

  test('with * every origin is permitted by *, and none is reflected', async () => {
    const { headers } = await answerTo({ origins: ['*'] }, '/.well-known/svc', {
      headers: { origin: 'https://any.test' },
    });
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers.vary).toBe('SVC-Version, Accept-Encoding');
    expect((await preflight({ origins: ['*'] }, '/v1/runs')).headers).not.toHaveProperty('vary');
  });

  test('with credentials every answer to a permitted origin says so', async () => {
    const cors = { origins: [PAGE], credentials: true };
    const { headers } = await preflight(cors, '/v1/runs');
    expect(headers['access-control-allow-credentials']).toBe('true');
    const answered = await answerTo(cors, '/.well-known/svc', { headers: { origin: PAGE } });
    expect(answered.headers['access-control-allow-credentials']).toBe('true');
  });

  test('a host without the option has no CORS header, and OPTIONS is a method like any other', async () => {
    const { status, headers } = await preflight(undefined, '/v1/runs');
    expect([status, grants(headers)]).toEqual([401, []]);
  });

  test('an OPTIONS that is no preflight is a method like any other', async () => {
    const { status } = await answerTo({ origins: [PAGE] }, '/v1/runs', {
      method: 'OPTIONS',
      headers: { origin: PAGE },
    });
    expect(status).toBe(401);
  });
});

test.each<[CorsOptions, RegExp]>([
  [{ origins: [] }, /^http\.cors\.origins: is empty\./],
  [
    { origins: ['https://console.example.com/'] },
    /^http\.cors\.origins: "https:\/\/console\.example\.com\/" is no exact origin\./,
  ],
  [{ origins: ['https://CONSOLE.example.com'] }, /is no exact origin/],
  [{ origins: ['https://console.example.com:443'] }, /is no exact origin/],
  [{ origins: ['console.example.com'] }, /is no exact origin/],
  [{ origins: ['https://*.example.com'] }, /is no exact origin/],
  [{ origins: ['null'] }, /is no exact origin/],
  [{ origins: ['*', PAGE] }, /^http\.cors\.origins: \* stands beside other origins\./],
  [{ origins: ['*'], credentials: true }, /^http\.cors\.credentials: is refused with the origin \*\./],
  [{ origins: [PAGE], maxAgeSeconds: -1 }, /^http\.cors\.maxAgeSeconds: /],
])('refuses %j', (cors, message) => {
  expect(() => hostWith(cors)).toThrow(message);
  expect(() => hostWith(cors)).toThrow(TypeError);
});

test.each(['https://console.example.com', 'http://localhost:3000', 'http://[::1]:3000', 'chrome-extension://abcdef'])(
  'accepts the origin %s',
  (origin) => {
    expect(() => hostWith({ origins: [origin] })).not.toThrow();
  },
);
