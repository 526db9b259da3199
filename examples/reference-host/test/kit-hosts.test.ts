import { createServer, type RequestListener, type Server } from 'node:http';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type DiscoveryOptions, type Host, type HostOptions, type MountDefinition } from '@svc/host-kit';
import { toNodeListener } from '@svc/host-kit/node';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { covers } from '@svc/tools/covers';
import { markPage, markSharedName, representationOf } from '@svc/versioning';
import { DowngradeError, defaultVersion, selectMajor, versionedFetch } from '@svc/versioning/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import './booted-host.ts';
import { bearer, sender } from './callers.ts';

/** Rules of hosts that are made with the kit and are not the reference host, and of clients of any host. */
const KEY = 'operator_brought_key_of_enough_characters';
const DELIVERY = 'dlv_01k0p3v5tq9d8m2x4c6b8n0r1s';

/** A bridge: every delivery to it starts a run. */
const bridge: MountDefinition = ({ runs }) => ({
  name: 'bridge',
  path: '/bridge',
  routes: [
    {
      method: 'POST',
      path: '/bridge/{deliveryId}',
      scope: 'runs:create',
      takesBody: false,
      async serve(call) {
        const unset = { scope: undefined, configurable: undefined, metadata: undefined };
        const causationId = call.params.deliveryId ?? '';
        const run = await runs.create(call, { workflowId: 'any', inputs: {}, tags: [], ...unset, causationId });
        return { status: 201, body: { runId: run.runId } };
      },
    },
  ],
});

const servers: Server[] = [];
const hosts: Host[] = [];
async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

async function serve(options: Partial<HostOptions> = {}): Promise<string> {
  const key = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1' };
  const scopes = ['runs:create', 'runs:read'];
  const host = createHost({
    store: memoryStore(),
    authenticate: [apiKeyLane({ keys: memoryKeyStore([{ ...key, scopes, mode: 'live' }]) })],
    engine: async () => ({}),
    secretKey: new Uint8Array(32),
    ...options,
    authorization: { hasWorkspace: () => true, ...options.authorization },
  });
  hosts.push(host);
  await host.start();
  return listen(toNodeListener(host));
}

let single = '';
let capable = '';
let opted = '';
let onlyMajor1 = '';
let onlyMajor2 = '';
beforeAll(async () => {
  const families: DiscoveryOptions = {
    families: { aiProviders: { supported: ['openai'] }, kanban: {} },
    claims: { kanban: { status: 'experimental', until: '2.1' } },
    envelopeKinds: ['error', 'media.image'],
    featureSurfaces: ['host.sample.board'],
  };
  single = await serve({ authorization: { singleTenant: true }, mounts: [bridge] });
  capable = await serve({ discovery: families });
  opted = await serve({ discovery: { ...families, experimental: true } });
  onlyMajor1 = await serve({ protocol: { versions: ['1.1'], preferred: '1.1' } });
  onlyMajor2 = await serve({ protocol: { versions: ['2.0'], preferred: '2.0' } });
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await Promise.all(hosts.map((host) => host.stop(0)));
});

const headersOf = (major: string) => ({ ...bearer(KEY), 'svc-version': major });

describe(covers('runs.owner.single-tenant-none', 'webhooks.durable.v1-causation-id'), () => {
  const call = sender(() => single);

  test.each(['1', '2'])('a run of a host of one tenant has no owner, in major %s', async (major) => {
    const { body } = await call(major === '1' ? '/v1/runs' : '/runs', {
      headers: headersOf(major),
      body: { workflowId: 'any' },
    });
    const path = `${major === '1' ? '/v1' : ''}/runs/${encodeURIComponent(body.runId)}`;
    const { body: page } = await call(`${path}/events/poll`, { headers: headersOf(major) });
    const { body: run } = await call(path, { headers: headersOf(major) });
    expect(page.events[0]).toMatchObject({ type: 'run.started', payload: { workflowId: 'any' } });
    for (const each of [run, page.events[0].payload]) expect(each).not.toHaveProperty('owner');
    expect(page.events[0]).not.toHaveProperty('causationId');
  });

  test('a run that a delivery starts names it as its cause', async () => {
    const { status, body } = await call(`/host/example/bridge/${DELIVERY}`, { method: 'POST', headers: bearer(KEY) });
    expect(status).toBe(201);
    const { body: page } = await call(`/v1/runs/${body.runId}/events/poll`, { headers: headersOf('1') });
    expect(page.events[0]).toMatchObject({ type: 'run.started', causationId: DELIVERY });
    const claimed = { workflowId: 'any', causationId: DELIVERY };
    expect((await call('/v1/runs', { headers: headersOf('1'), body: claimed })).status).toBe(400);
  });
});

describe(
  covers(
    'errors.code.provider-policy-denied',
    'discovery.document.envelope-kinds',
    'discovery.document.feature-surface-form',
    'versioning.release.experimental-opt-in',
    'versioning.axes.schema-versions-map',
  ),
  () => {
    const documentOf = async (url: string, major: string) =>
      (await sender(() => url)('/.well-known/svc', { headers: { 'svc-version': major } })).body;

    test('a host that declares capabilities advertises them in the form of the interface', async () => {
      const [v1, v2] = [await documentOf(capable, '1'), await documentOf(capable, '2')];
      for (const { aiProviders } of [v1, v2]) expect(aiProviders.errorCode).toBe('provider_policy_denied');
      const kinds = ['error', 'media.image'];
      expect([...v1.supportedEnvelopes].sort()).toEqual(kinds);
      expect(v1.schemaVersions).toEqual({ error: 1, 'media.image': 1, runEvent: 1, capabilities: 1 });
      expect(v2.schemaVersions.kinds).toEqual({ error: 1, 'media.image': 1 });
      expect(v1.hostExtensions.featureSurfaces).toEqual(['host.sample.board']);
    });

    test('an experimental family is advertised by the host that opted in, and by no other', async () => {
      for (const major of ['1', '2']) {
        expect(await documentOf(capable, major)).not.toHaveProperty('kanban');
        expect(await documentOf(opted, major)).toHaveProperty('kanban');
      }
    });
  },
);

describe(
  covers(
    'versioning.advertisement.single-major-equal',
    'versioning.advertisement.after-overlap-prefers-2x',
    'versioning.paths.unversioned-twin',
    'versioning.paths.unversioned-root-not-400',
    'versioning.paths.vendor-any-version',
    'versioning.paths.vendor-twin-retires',
    'versioning.paths.seams-not-bound',
    'versioning.axes.type-id-version',
  ),
  () => {
    const statusOf = async (url: string, path: string, version?: string) => {
      const headers = { ...bearer(KEY), ...(version !== undefined && { 'svc-version': version }) };
      const { status, headers: answered } = await sender(() => url)(path, { headers });
      return [status, answered.get('svc-version')];
    };

    test('a host of one major prefers its version', async () => {
      const read = async (url: string) =>
        (await (await fetch(`${url}/.well-known/svc`)).json()) as Record<string, unknown>;
      const [v1, v2] = [await read(onlyMajor1), await read(onlyMajor2)];
      expect([v1.protocolVersions, v1.preferredVersion, v1.protocolVersion]).toEqual([['1.1'], '1.1', '1.1']);
      expect([v2.protocolVersions, v2.preferredVersion]).toEqual([['2.0'], '2.0']);
    });

    test('the path of major 2 is that of major 1 without /v1, and is served', async () => {
      expect(await statusOf(capable, '/v1/runs/run_00000000000000000000')).toEqual([404, '1.1']);
      expect(await statusOf(capable, '/runs/acme~2Frun_00000000000000000000', '2')).toEqual([404, '2.0']);
      for (const path of ['/runs', '/openapi.json']) expect(await statusOf(onlyMajor2, path)).toEqual([200, '2.0']);
    });

    test('a vendor path is served for every version, and is stamped by none', async () => {
      for (const version of [undefined, '1', '2', '9', 'x'])
        expect(await statusOf(capable, '/host/example/livez', version)).toEqual([200, null]);
      expect((await statusOf(capable, '/v1/host/example/livez'))[0]).toBe(200);
      expect((await statusOf(onlyMajor2, '/host/example/livez'))[0]).toBe(200);
      expect((await statusOf(onlyMajor2, '/v1/host/example/livez'))[0]).toBe(404);
      // A mount that major 1 has under its own prefix alone does not keep the host from serving both majors.
      expect((await statusOf(single, '/bridge/x'))[0]).toBe(404);
    });

    test('a version in the id of a type selects no version', async () => {
      const call = sender(() => capable);
      for (const [path, major, workflowId] of [
        ['/runs', '2', 'core.delay@1.0.0'],
        ['/v1/runs', '1', 'core.delay@2.0.0'],
      ] as const) {
        const { status, headers } = await call(path, { headers: headersOf(major), body: { workflowId } });
        expect([status, headers.get('svc-version')]).toEqual([201, major === '1' ? '1.1' : '2.0']);
      }
    });
  },
);

describe(
  covers(
    'versioning.response.page-unmarked',
    'versioning.response.header-gets-protocol',
    'versioning.response.json-gets-protocol',
    'versioning.response.only-html-gets-page',
    'versioning.response.shared-vary',
  ),
  () => {
    let front = '';
    beforeAll(async () => {
      const PAGE = '<!doctype html><title>Runs</title>';
      front = await listen(async (request, response) => {
        const { method = '', url = '', headers } = request;
        if (representationOf({ method, target: url, headers }) === 'page') {
          const marked = markedAs(markPage, { 'content-type': 'text/html' });
          response.writeHead(200, marked).end(PAGE);
          return;
        }
        const given = Object.entries(headers).filter(
          (entry): entry is [string, string] => typeof entry[1] === 'string',
        );
        const passed = given.filter(([name]) => name !== 'host' && name !== 'connection');
        const answer = await fetch(capable + url, { method, headers: passed });
        const kept = ['content-type', 'svc-version', 'vary'].flatMap((name) => {
          const value = answer.headers.get(name);
          return value === null ? [] : [[name, value] as const];
        });
        response.writeHead(answer.status, markedAs(markSharedName, Object.fromEntries(kept)));
        response.end(await answer.text());
      });
    });
    const markedAs = (mark: (headers: Headers) => void, given: Record<string, string>) => {
      const headers = new Headers(given);
      mark(headers);
      return Object.fromEntries(headers);
    };

    test.each<[string | undefined, string | undefined, 'protocol' | 'page']>([
      [undefined, undefined, 'protocol'],
      ['*/*', undefined, 'protocol'],
      ['application/json', undefined, 'protocol'],
      ['application/json, text/html', undefined, 'protocol'],
      ['text/html;q=0.8, application/json;q=0.9', undefined, 'protocol'],
      ['text/html', '2', 'protocol'],
      ['text/html', '1', 'protocol'],
      ['text/html', undefined, 'page'],
      ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', undefined, 'page'],
    ])('Accept: %s and SVC-Version: %s get the %s', async (accept, version, expected) => {
      const headers = {
        ...bearer(KEY),
        ...(accept !== undefined && { accept }),
        ...(version !== undefined && { 'svc-version': version }),
      };
      const { headers: answered } = await fetch(`${front}/runs/run_1`, { headers });
      const isPage = expected === 'page';
      expect(answered.has('svc-version')).toBe(!isPage);
      expect(answered.get('content-type')).toContain(isPage ? 'text/html' : 'application/json');
      const vary = answered.get('vary')?.split(', ') ?? [];
      expect(vary).toEqual(expect.arrayContaining(['Accept', 'SVC-Version']));
    });
  },
);

describe(
  covers(
    'versioning.client.highest-common',
    'versioning.advertisement.client-default',
    'versioning.response.downgrade-detected',
  ),
  () => {
    test('a client selects the highest major that both have', async () => {
      const read = async (url: string) => (await fetch(`${url}/.well-known/svc`)).json();
      const majors = await Promise.all(
        [capable, onlyMajor1, onlyMajor2].map(async (url) => selectMajor(await read(url), [1, 2])),
      );
      expect(majors).toEqual([2, 1, 2]);
      expect(selectMajor(await read(onlyMajor2), [1])).toBeUndefined();
    });

    test('a client takes the highest version of a document that prefers none', async () => {
      const older = await listen((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ protocolVersion: '1.0', protocolVersions: ['1.9', '1.10'] }));
      });
      expect(defaultVersion(await (await fetch(`${older}/.well-known/svc`)).json())).toBe('1.10');
    });

    test('a client rejects the answer of another major than it asked for', async () => {
      const downgrading = await listen((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'svc-version': '1.1' }).end('{}');
      });
      await expect(versionedFetch({ major: 2 })(`${downgrading}/runs`)).rejects.toThrow(DowngradeError);
      const served = await versionedFetch({ major: 2 })(`${capable}/runs`, { headers: bearer(KEY) });
      expect(served.status).toBe(200);
    });
  },
);
