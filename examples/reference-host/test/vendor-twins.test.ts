import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, BYOK, KEY, startAcme } from './acme-host.ts';

let host: AcmeHost;
const DATES = { deprecatedAt: '2026-01-01T00:00:00Z', sunsetAt: '2027-01-01T00:00:00Z' };
beforeAll(async () => {
  host = await startAcme({}, { mounts: { mcp: true }, protocol: { retirement: DATES } });
});
afterAll(() => host.stop());

const TASK = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'nope' } };
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
interface Surface {
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
}
const SURFACES: readonly Surface[] = [
  { path: '/livez' },
  { path: '/readyz' },
  { path: '/status' },
  { path: '/webhooks' },
  { path: '/webhooks/whk_00000000000000000000000000' },
  { path: '/byok/secrets', key: BYOK },
  { path: '/chat', body: { message: 1 } },
  { path: '/a2a', body: TASK },
  { path: '/a2a/.well-known/agent-card.json' },
  { path: '/mcp', body: PING },
  { path: '/interrupts/run_1/gate/tokens', body: {} },
  { path: '/nothing' },
];

async function ask(path: string, body: object | undefined, headers: Record<string, string> = {}) {
  const response = await fetch(host.url() + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${KEY}`,
      accept: 'application/json, text/event-stream',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

describe(covers('operations.host.twins'), () => {
  test.each(SURFACES)(
    '/v1/host/example$path answers as the path without /v1, and is not stamped',
    async ({ path, body, key }) => {
      const credential = key === undefined ? {} : { authorization: `Bearer ${key}` };
      const own = await ask(`/host/example${path}`, body, credential);
      for (const headers of [credential, { ...credential, 'svc-version': '1' }]) {
        const twin = await ask(`/v1/host/example${path}`, body, headers);
        expect(twin.status).toBe(own.status);
        if (path !== '/status') expect(twin.text).toBe(own.text);
        expect(twin.headers.get('svc-version')).toBeNull();
      }
    },
  );

  test.each(SURFACES)('/v1/host/example$path refuses another version before anything else', async ({ path, body }) => {
    for (const version of ['2', '2.0', '1.1', 'x']) {
      const refused = await ask(`/v1/host/example${path}`, body, { 'svc-version': version, authorization: '' });
      expect([refused.status, refused.headers.get('svc-version')]).toEqual([400, null]);
      expect(refused.text).toContain('protocol_version_mismatch');
    }
  });

  test('a path without /v1 accepts every version', async () => {
    const { status } = await ask('/host/example/webhooks', undefined, { 'svc-version': '9' });
    expect(status).toBe(200);
  });

  test('a twin announces the retirement of major 1', async () => {
    const twin = await ask('/v1/host/example/webhooks', undefined);
    expect([...twin.headers.keys()]).toEqual(expect.arrayContaining(['deprecation', 'sunset']));
    const own = await ask('/host/example/webhooks', undefined);
    expect(own.headers.has('sunset')).toBe(false);
  });

  test('the twins retire with major 1', async () => {
    await host.reboot({}, { protocol: { versions: ['2.0'] } });
    expect((await ask('/host/example/livez', undefined)).status).toBe(200);
    for (const path of ['/livez', '/webhooks', '/a2a'])
      expect((await ask(`/v1/host/example${path}`, undefined)).status).toBe(404);
  });
});
