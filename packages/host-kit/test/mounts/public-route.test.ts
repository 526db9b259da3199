import { AuthError, anonymousActor, type Principal } from '@svc/auth';
import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type LogRecord, type Mount, type PublicMountRoute, publicMountRoute } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { covers } from '@svc/tools/covers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { yieldToLoop } from '../../src/ports/clock.ts';
import { systemRandom } from '../../src/ports/random.ts';
import { manualClock } from '../streams/manual-clock.ts';

const TENANCY = { tenant: 'acme', workspaces: ['acme-prod'], mode: 'live' } as const;
const VISITOR: Principal = anonymousActor({ tenancy: TENANCY, issuer: 'urn:test', randomBytes: systemRandom });
const SENDER: Principal = { ...VISITOR, id: 'p_sender', kind: 'agent', credentialId: 'sender', scopes: ['runs:read'] };

const ECHO: PublicMountRoute<string> = {
  method: 'POST',
  path: '/inbox',
  verify: ({ body }) => ({ principal: SENDER, value: Buffer.from(body).toString('hex') }),
  serve: async (call, value) => ({ status: 200, body: { value, caller: call.principal.id } }),
};

/** Starts a host with one public route. */
async function hostWith(changes: Partial<PublicMountRoute<string>>) {
  const store = memoryStore();
  const logged: LogRecord[] = [];
  const clock = manualClock();
  const route = publicMountRoute({ ...ECHO, ...changes });
  const mount: Mount = { name: 'inbox', path: '/inbox', routes: [route] };
  const host = createHost({
    store,
    ports: { clock, log: (record) => logged.push(record) },
    authenticate: [apiKeyLane({ keys: memoryKeyStore([]), now: clock.now })],
    engine: async () => ({}),
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true },
    audit: { signer: { publicKey: 'MCowBQYDK2VwAyEA', sign: async () => new Uint8Array(64) } },
    mounts: [() => mount],
  });
  await host.start();
  onTestFinished(() => host.stop(0));
  return {
    clock,
    logged,
    async post(body: RequestInit['body'], { headers = {}, address = '192.0.2.1', path = '/host/example/inbox' } = {}) {
      const init = { method: 'POST', headers, body: body ?? null, duplex: 'half' };
      const response = await host.fetch(new Request(`http://host.test${path}`, init), { address });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
    },
    async facts(): Promise<readonly { readonly action: string; readonly details: object }[]> {
      clock.advance(1000);
      await yieldToLoop();
      const found = [];
      for await (const entry of store.audit.entries(1, 1000)) found.push(entry);
      return found;
    },
  };
}

describe('a public route', () => {
  test('gives its verification the bytes of the body as they were sent', async () => {
    const { post } = await hostWith({});
    const sent = Uint8Array.of(0xff, 0x0d, 0x0a, 0x00, 0x7b);
    expect(await post(sent)).toMatchObject({ status: 200, body: { value: 'ff0d0a007b', caller: 'p_sender' } });
  });

  test('refuses a request that its verification rejects, and records that once in log and audit', async () => {
    const error = new AuthError('unauthenticated', 'The signature does not match.', undefined);
    const { post, logged, facts } = await hostWith({ verify: () => Promise.reject(error) });
    expect(await post('x')).toMatchObject({ status: 401, body: { error: 'unauthenticated' } });
    const refusal = {
      operation: 'host',
      method: 'POST',
      path: '/host/example/inbox',
      code: 'unauthenticated',
      status: 401,
    };
    expect(logged.filter(({ event }) => event === 'request.refused')).toEqual([expect.objectContaining(refusal)]);
    expect(await facts()).toEqual([
      expect.objectContaining({
        action: 'request.refused',
        actor: 'public',
        details: expect.objectContaining(refusal),
      }),
    ]);
  });

  test('records a served request under its principal', async () => {
    const { post, facts } = await hostWith({});
    await post('x');
    expect(await facts()).toEqual([expect.objectContaining({ action: 'request', actor: 'p_sender' })]);
  });

  test('refuses a body over its own limit before the verification, with and without a declared length', async () => {
    const { post } = await hostWith({ limits: { maxBodyBytes: 8 } });
    expect(await post('12345678')).toMatchObject({ status: 200 });
    expect(await post('123456789', { headers: { 'content-length': '9' } })).toMatchObject({ status: 413 });
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(5));
      },
    });
    expect(await post(stream)).toMatchObject({ status: 413, body: { error: 'payload_too_large' } });
  });

  test('answers 503 when its verification takes longer than its deadline, and aborts it', async () => {
    let aborted = false;
    const { post, clock } = await hostWith({
      limits: { deadlineMs: 500 },
      verify: ({ signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            aborted = true;
          });
          clock.advance(500);
        }),
    });
    expect(await post('x')).toMatchObject({ status: 503, body: { error: 'service_unavailable' } });
    expect(aborted).toBe(true);
  });

  test('limits each client address before it reads the body', async () => {
    const { post, clock } = await hostWith({ limits: { perClient: { limit: 2, windowSeconds: 60 } } });
    expect([await post('x'), await post('x'), await post('x')].map(({ status }) => status)).toEqual([200, 200, 429]);
    const path = '/v1/host/example/inbox';
    const twin = await post('x', { path });
    expect(twin).toMatchObject({ status: 429, body: { error: 'rate_limited' } });
    expect(twin.headers.get('retry-after')).toBe('60');
    expect(await post('x', { address: '192.0.2.2' })).toMatchObject({ status: 200 });
    clock.advance(60_000);
    expect(await post('x')).toMatchObject({ status: 200 });
  });

  test('counts and records a request with an invalid idempotency key', async () => {
    const limits = { perClient: { limit: 2, windowSeconds: 60 } };
    const { post, logged } = await hostWith({ limits, takesKey: true });
    const headers = { 'idempotency-key': '!' };
    expect(await post('x', { headers })).toMatchObject({ status: 400, body: { error: 'validation_error' } });
    expect(await post('x', { headers })).toMatchObject({ status: 400 });
    expect(await post('x', { headers })).toMatchObject({ status: 429 });
    expect(logged.filter(({ event }) => event === 'request.refused')).toHaveLength(3);
  });

  test('ends the window of a client on a clock that was set back', async () => {
    const { post, clock } = await hostWith({ limits: { perClient: { limit: 1, windowSeconds: 60 } } });
    expect(await post('x')).toMatchObject({ status: 200 });
    clock.set(-3_600_000);
    expect(await post('x')).toMatchObject({ status: 429 });
    clock.advance(60_000);
    expect(await post('x')).toMatchObject({ status: 200 });
  });

  test('records at most 60 refusals in a minute, and tells later how many were left out', async () => {
    const error = new AuthError('unauthenticated', 'No.', undefined);
    const limits = { perClient: { limit: 1000, windowSeconds: 1 } };
    const { post, clock, logged } = await hostWith({ limits, verify: () => Promise.reject(error) });
    for (let index = 0; index < 70; index++) await post('x');
    clock.advance(60_000);
    await post('x');
    const refused = logged.filter(({ event }) => event === 'request.refused');
    expect([refused.length, refused.at(-1)?.unrecorded]).toEqual([61, 10]);
  });

  test('tells nothing of an unexpected error of its verification', async () => {
    const verify = () => Promise.reject(new Error('connection to postgres://secret failed'));
    const { post } = await hostWith({ verify });
    const { status, body } = await post('x');
    expect([status, body.error]).toEqual([500, 'internal_error']);
    expect(JSON.stringify(body)).not.toContain('postgres');
  });

  test('is a TypeError with a limit that is not valid', () => {
    const limits = { perClient: { limit: 0, windowSeconds: 60 } };
    expect(() => publicMountRoute({ ...ECHO, limits })).toThrow(TypeError);
  });

  test('parses JSON after the verification', async () => {
    const seen: string[] = [];
    const { post } = await hostWith({
      takesBody: true,
      verify({ body }) {
        seen.push(Buffer.from(body).toString());
        return { principal: SENDER, value: '' };
      },
      serve: async ({ json }) => ({ status: 200, body: { json: JSON.stringify(json) } }),
    });
    const headers = { 'content-type': 'application/json' };
    expect(await post('{"a":1}', { headers })).toMatchObject({ body: { json: '{"a":1}' } });
    expect(await post('{"a":', { headers })).toMatchObject({ status: 400 });
    expect(await post('{}')).toMatchObject({ status: 415 });
    expect(seen).toEqual(['{"a":1}', '{"a":']);
  });
});

describe(covers('runs.anonymous.default-deny', 'runs.anonymous.no-role'), () => {
  test.each<[string, Principal, readonly string[], number]>([
    ['an anonymous caller has no scope', VISITOR, [], 403],
    ['an anonymous caller has the granted scope alone', VISITOR, ['runs:create'], 403],
    ['a wildcard grants an anonymous caller nothing', VISITOR, ['runs:*', '*'], 403],
    ['an anonymous caller with scopes of its own has none of them', { ...VISITOR, scopes: ['runs:read'] }, [], 403],
    ['an anonymous caller has a granted scope', VISITOR, ['runs:read'], 200],
    ['another caller has the scopes of its principal', SENDER, [], 200],
    ['another caller has no granted scope', { ...SENDER, scopes: [] }, ['runs:read'], 403],
  ])('%s', async (_, principal, grants, status) => {
    const { post, facts } = await hostWith({
      grants,
      verify: () => ({ principal, value: '' }),
      async serve(call) {
        await call.permit('runs:read');
        return { status: 200 };
      },
    });
    expect(await post('x')).toMatchObject({ status });
    expect((await facts()).at(-1)?.details).toMatchObject({ allowed: status === 200, scope: 'runs:read' });
  });
});
