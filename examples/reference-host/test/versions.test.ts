import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { asDescribed } from '@svc/tools/as-described';
import { covers } from '@svc/tools/covers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually, launch, type RunningHost, scratch } from './booted-host.ts';
import { bootInProcess } from './host-in-process.ts';

const send = asDescribed(fetch);

const KEY = 'operator_brought_key_of_enough_characters';

let folder: ReturnType<typeof scratch>;
let host: RunningHost | undefined;

beforeEach(() => {
  folder = scratch();
});
afterEach(async () => {
  await host?.end();
  host = undefined;
  folder.remove();
});

function configuration(protocol: object): object {
  return {
    listen: { port: 0 },
    store: 'memory:',
    protocol,
    tenants: [{ id: 'acme', workspaces: ['w'] }],
    apiKeys: [
      {
        id: 'key_1',
        key: KEY,
        tenant: 'acme',
        workspaces: ['*'],
        principal: 'p_1',
        scopes: ['runs:create', 'runs:read'],
      },
    ],
  };
}

async function boot(protocol: object = {}): Promise<string> {
  host = await bootInProcess(folder.path('host.json'), configuration(protocol));
  return host.url;
}

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await send(url, { headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
}

describe('the modes of a host', () => {
  test.each([
    ['the overlap', {}, ['1.1', '2.0'], '1.1'],
    ['major 1 alone', { versions: ['1.1'] }, ['1.1'], '1.1'],
    ['major 2 alone', { versions: ['2.0'] }, ['2.0'], '2.0'],
  ])(
    `%s keeps the rules that svc-versioning checks: ${covers('versioning.advertisement.reference-values')}`,
    async (_mode, protocol, versions, preferred) => {
      const url = await boot(protocol);
      const { body } = await get(`${url}/.well-known/svc`);
      expect([body.protocolVersions, body.preferredVersion]).toEqual([versions, preferred]);
      if (versions.includes('1.1')) expect(body.protocolVersion).toBe('1.1');
      const program = fileURLToPath(new URL('../../../packages/versioning/dist/cli/main.js', import.meta.url));
      // Rejects for an exit code other than 0.
      const { stdout } = await promisify(execFile)(process.execPath, [program, 'check', url]);
      expect(stdout).toMatch(/Every rule is kept\.\n$/);
    },
  );

  test('a host without major 1 serves nothing of it, and requests without a version are of major 2', async () => {
    const url = await boot({ versions: ['2.0'] });
    const authorization = `Bearer ${KEY}`;
    for (const path of ['/v1/runs', '/v1/runs/r', '/v1/webhooks', '/v1/openapi.json', '/v1/anything']) {
      const answer = await get(url + path, { authorization });
      expect([path, answer.status, answer.headers.get('svc-version')]).toEqual([path, 404, null]);
    }
    const answer = await get(`${url}/runs/acme%2Frun_00000000000000000000`, { authorization });
    expect([answer.status, answer.headers.get('svc-version')]).toEqual([404, '2.0']);
  });

  test('responses of major 1 alone announce its end', async () => {
    const url = await boot({
      retirement: {
        deprecatedAt: '2026-01-01T00:00:00Z',
        sunsetAt: '2027-01-01T00:00:00Z',
        link: 'https://svc.example/v2',
      },
    });
    for (const path of ['/v1/runs/r', '/.well-known/svc']) {
      const { headers } = await get(url + path);
      expect([headers.get('deprecation'), headers.get('sunset')]).toEqual([
        '@1767225600',
        'Fri, 01 Jan 2027 00:00:00 GMT',
      ]);
      expect(headers.get('link')).toBe('<https://svc.example/v2>; rel="deprecation"; type="text/html"');
    }
    expect((await get(`${url}/.well-known/svc`, { 'svc-version': '2' })).headers.get('deprecation')).toBeNull();
  });

  test('a malformed date ends the process with exit code 2 and its path', async () => {
    const launched = launch(folder.path('host.json'), configuration({ retirement: { deprecatedAt: 'soon' } }));
    let errors = '';
    launched.process.stderr?.on('data', (chunk) => {
      errors += chunk;
    });
    const code = await new Promise((resolve) => launched.process.on('exit', resolve));
    expect([code, errors]).toEqual([2, expect.stringContaining('protocol.retirement.deprecatedAt')]);
  });
});

describe('discovery', () => {
  test(
    covers('discovery.document.path', 'discovery.document.cache-control', 'discovery.document.strong-etag'),
    async () => {
      const url = await boot();
      for (const version of ['1', '2']) {
        const { status, headers } = await get(`${url}/.well-known/svc`, { 'svc-version': version });
        expect([status, headers.get('cache-control'), headers.get('etag')]).toEqual([
          200,
          'public, max-age=300',
          expect.stringMatching(/^"[^"]+"$/),
        ]);
      }
      expect((await get(`${url}/v1/.well-known/svc`)).status).toBe(404);
    },
  );

  test(covers('versioning.client.minimum-told'), async () => {
    const url = await boot();
    for (const version of ['1', '2']) {
      const { body } = await get(`${url}/.well-known/svc`, { 'svc-version': version, 'svc-client-version': '0.0' });
      expect(body.minClientVersion).toBe('0.0');
    }
  });

  test(covers('versioning.client.discovery-not-exempt'), async () => {
    const url = await boot({ minClientVersion: '1.2' });
    for (const version of ['1', '2']) {
      const ask = (client: string) =>
        get(`${url}/.well-known/svc`, { 'svc-version': version, 'svc-client-version': client });
      expect((await ask('1.2')).status).toBe(200);
      const below = await ask('1.1');
      expect([below.status, below.body.error]).toEqual([426, 'client_version_unsupported']);
      expect(below.body.details).toMatchObject({ minClientVersion: '1.2' });
    }
  });

  test(covers('discovery.document.advertise-only-served'), async () => {
    const url = await boot();
    const v1 = await get(`${url}/.well-known/svc`);
    // Major 1 lists the served families, and declares that authorization is not supported.
    const families = [
      ...['a2a', 'compensation', 'eventLog', 'feedback', 'httpClient', 'idempotency', 'observability', 'replay'],
      ...['restTransport', 'webhooks'],
    ];
    const ofMajor1 = [...families, 'auth', 'authorization', 'interrupts', 'workspace'];
    expect(Object.keys(v1.body.capabilities).sort()).toEqual(ofMajor1.sort());
    expect(v1.body.authorization).toEqual({ supported: false });
    expect(v1.body.auth).toMatchObject({ supported: true, profiles: ['svc-audit-log-integrity'] });
    const v2 = await get(`${url}/.well-known/svc`, { 'svc-version': '2' });
    const records = Object.keys(v2.body).filter((name) => v2.body[name].witness !== undefined);
    const ofMajor2 = [...families, 'auditLogIntegrity', 'auth', 'interrupt', 'limits', 'runList'];
    expect(records.sort()).toEqual(ofMajor2.sort());
  });
});

describe('the versions of a run', () => {
  test(covers('versioning.axes.event-log-schema-stamp'), async () => {
    const url = await boot();
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', 'svc-version': '2' };
    const created = await send(`${url}/runs`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ workflowId: 'echo', inputs: {} }),
    });
    expect([created.status, created.ok ? '' : await created.text()]).toEqual([201, '']);
    const { runId } = (await created.json()) as { runId: string };
    const path = `${url}/runs/${encodeURIComponent(runId)}`;
    let run = await get(path, headers);
    await eventually(async () => {
      run = await get(path, headers);
      return run.body.status === 'completed';
    });
    expect(run.body).toMatchObject({
      status: 'completed',
      eventLogSchemaVersion: 3,
      engineVersion: expect.any(Number),
    });
  });
});

describe(covers('versioning.paths.method-of-other-major'), () => {
  const ask = async (path: string, headers: Record<string, string>, method = 'GET') => {
    const response = await send(`${host?.url}${path}`, { method, headers });
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
  };
  const authorization = `Bearer ${KEY}`;

  test.each(['/runs', '/v1/runs'])('GET %s of major 1 is answered 405 with the request of major 2', async (path) => {
    host = await bootInProcess(folder.path('config.json'), configuration({}));
    const { status, headers, body } = await ask(path, { authorization });
    expect([status, headers.get('allow'), headers.get('svc-version')]).toEqual([405, 'POST', '1.1']);
    expect(body).toEqual({
      error: 'validation_error',
      message: 'This path takes POST. Major 2 has the operation: send GET /runs with SVC-Version: 2.',
      details: { fields: [{ field: 'method', problem: 'must be POST' }] },
    });
    expect((await ask(path, {})).status).toBe(401);
    expect((await ask('/runs', { authorization, 'svc-version': '2' })).status).toBe(200);
  });

  test('a path that only the other major has is answered 404 with its request', async () => {
    host = await bootInProcess(folder.path('config.json'), configuration({}));
    const absent = await ask('/v1/host/effect-seams', { authorization });
    expect(absent.status).toBe(404);
    expect(absent.body.message).toBe('Major 2 has the operation: send GET /host/effect-seams with SVC-Version: 2.');
  });

  test('a host of major 1 alone names no request of major 2', async () => {
    host = await bootInProcess(folder.path('config.json'), configuration({ versions: ['1.1'] }));
    const { status, body } = await ask('/v1/runs', { authorization });
    expect([status, body.message]).toEqual([405, 'This path takes POST.']);
  });
});
