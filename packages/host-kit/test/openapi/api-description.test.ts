import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
import { bearerLane } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore } from '@svc/auth/dpop';
import { memoryRateLimiter } from '@svc/auth/rate-limit';
import { createHost, type HostOptions } from '@svc/host-kit';
import { a2aMount } from '@svc/host-kit/mounts/a2a';
import { chatMount } from '@svc/host-kit/mounts/chat';
import { mcpMount } from '@svc/host-kit/mounts/mcp';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { covers } from '@svc/tools/covers';
import { MANIFEST } from '@svc/versioning';
import { parseSemanticVersion } from '@svc/versioning/axes';
import { describe, expect, test } from 'vitest';
import { HOST, publicHost } from './public-host.ts';

function hostWith(options: Partial<HostOptions> = {}) {
  return createHost({
    store: memoryStore(),
    authenticate: [apiKeyLane({ keys: memoryKeyStore([]) })],
    engine: async () => ({}),
    secretKey: new Uint8Array(32),
    ...options,
    authorization: { hasWorkspace: () => true, ...options.authorization },
  });
}

interface Operation {
  readonly operationId: string;
  readonly security: readonly Record<string, readonly string[]>[];
  readonly parameters: readonly unknown[];
  readonly responses: Record<string, { content?: Record<string, { schema: object }> }>;
}

async function descriptionOf(options: Partial<HostOptions>, major: string, path = '/openapi.json') {
  const request = new Request(`http://host.test${path}`, { headers: { 'svc-version': major } });
  const response = await hostWith(options).fetch(request);
  expect(response.status).toBe(200);
  const document = JSON.parse(await response.text());
  const paths: Record<string, Record<string, Operation>> = document.paths;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );
  return { document, operations, headers: response.headers };
}

/** Hosts that together use every option that changes the description. */
const EVERYTHING: Partial<HostOptions> = {
  audit: { signer: { publicKey: 'MCowBQYDK2VwAyEA', sign: async () => new Uint8Array(64) } },
  baseUrl: 'https://svc.test/',
  authenticate: [
    bearerLane({
      issuers: [{ issuer: 'https://idp.test', audience: 'svc', profile: 'user', keys: { find: () => undefined } }],
      dpop: dpopVerifier({ origin: 'https://svc.test', replays: memoryReplayStore({ now: Date.now }) }),
    }),
    apiKeyLane({ keys: memoryKeyStore([]) }),
  ],
  http: { rateLimit: memoryRateLimiter({ limit: 1000, windowSeconds: 60, now: Date.now, maxKeys: 10 }) },
  protocol: {
    versions: ['1.1', '2.0'],
    preferred: '1.1',
    minClientVersion: '1.0',
    retirement: { deprecatedAt: new Date('2026-01-01'), link: 'https://svc.test/v2' },
  },
  webhooks: { tenantIdOptional: true },
};

const HOSTS: readonly [string, Partial<HostOptions>][] = [
  ['a host as it is by default', {}],
  ['a host with everything', EVERYTHING],
  ['a host of major 1 alone', { protocol: { versions: ['1.1'], preferred: '1.1' } }],
  ['a host of major 2 alone', { protocol: { versions: ['2.0'], preferred: '2.0' } }],
];

describe(covers('operations.openapi.lints'), () => {
  test.each(
    HOSTS.flatMap(([title, options]) => {
      const { versions = ['1.1', '2.0'] } = options.protocol ?? {};
      return versions.map((version) => [title, version, options] as const);
    }),
  )('%s, version %s', async (_title, version, options) => {
    const { document } = await descriptionOf(options, version);
    expect(lint(document)).toBe('');
  });

  test('the linter reports a missing operation id', async () => {
    const { document } = await descriptionOf({}, '2');
    delete document.paths['/runs'].post.operationId;
    expect(lint(document)).toContain('operation-operationId');
  });
});

/**
 * Returns the problems that redocly reports under its recommended rules, warnings included; empty when there are none.
 */
function lint(document: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-openapi-'));
  try {
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
    const command = fileURLToPath(new URL('../../../../node_modules/@redocly/cli/bin/cli.js', import.meta.url));
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [command, 'lint', 'openapi.json', '--extends=recommended', '--format=json'],
      {
        cwd: folder,
        encoding: 'utf8',
        // By default it reports its use to its makers, and asks them for a newer version.
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      },
    );
    const { totals, problems } = JSON.parse(stdout || `{"problems":[${JSON.stringify(stderr)}]}`);
    const clean = totals?.errors === 0 && totals.warnings === 0;
    return clean ? '' : JSON.stringify(problems, undefined, 1).slice(0, 5000);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe(covers('operations.openapi.describes-what-is-served'), () => {
  test.each([
    ['1', '/v1', ['/v1/runs', '/.well-known/svc', '/v1/openapi.json']],
    ['2', '', ['/runs', '/.well-known/svc', '/openapi.json']],
  ])('major %s', async (major, prefix, paths) => {
    const { operations } = await descriptionOf(EVERYTHING, major);
    expect(operations.map(({ path }) => path)).toEqual(expect.arrayContaining(paths));
    for (const { operationId, path, method } of operations) {
      const known = MANIFEST.find((operation) => operation.operationId === operationId);
      expect([method.toUpperCase(), path]).toEqual([
        known?.method,
        operationId === 'discovery' ? known?.path : `${prefix}${known?.path}`,
      ]);
    }
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  });

  test.each([
    ['1', ['runId', 'workspaceId', 'event'], undefined, 'run.dead_lettered'],
    ['2', ['runId', 'event'], false, 'run.dead-lettered'],
  ])('describes the delivery of major %s by its schema', async (major, required, additional, type) => {
    const { document } = await descriptionOf({}, major);
    const { schema } = document.webhooks.deliverEvent.post.requestBody.content['application/json'];
    expect(schema.required).toEqual(required);
    expect(schema.additionalProperties).toBe(additional);
    expect(schema.properties.event).toEqual({ $ref: '#/components/schemas/Delivery.event' });
    expect(document.components.schemas).toHaveProperty([`Delivery.payload.${type}`]);
  });

  test('leaves out operations that are switched off', async () => {
    const ids = async (options: Partial<HostOptions>) =>
      (await descriptionOf(options, '2')).operations.map(({ operationId }) => operationId);
    expect(await ids(EVERYTHING)).toContain('verifyAudit');
    expect(await ids({})).not.toContain('verifyAudit');
  });

  test('names the scope of each operation, and none for a public one', async () => {
    const { operations } = await descriptionOf({}, '1');
    const security = Object.fromEntries(operations.map(({ operationId, security }) => [operationId, security]));
    expect(security).toMatchObject({ createRun: [{ bearer: ['runs:create'] }], discovery: [] });
  });

  test('describes errors in the envelope of the major', async () => {
    const envelopes = await Promise.all(
      ['1', '2'].map(async (major) => (await descriptionOf(EVERYTHING, major)).document.components.schemas),
    );
    expect(envelopes.map((schemas) => Object.keys(schemas.ForbiddenError.properties))).toEqual([
      ['error', 'message', 'scopeRequired'],
      ['error', 'message', 'details'],
    ]);
    expect(envelopes.map((schemas) => Object.keys(schemas.RateLimitedError.properties.details.properties))).toEqual([
      ['window', 'limit', 'current', 'retryAfterSeconds'],
      ['window', 'limit', 'current'],
    ]);
  });
});

describe(covers('operations.openapi.served'), () => {
  test.each([
    ['/openapi.json', '2', '2.0'],
    ['/openapi.json', '1', '1.1'],
    ['/v1/openapi.json', '1', '1.1'],
  ])('%s in major %s', async (path, major, contract) => {
    const { document, headers } = await descriptionOf({}, major, path);
    expect(document.openapi).toBe('3.1.1');
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'public, max-age=300',
      vary: 'SVC-Version, Accept-Encoding',
      'svc-version': contract,
      etag: expect.stringMatching(/^"[\w-]+"$/),
    });
  });

  test.each(['1', '2'])(
    `${covers('versioning.axes.api-description')} Its version is the one that is released, major %s.`,
    async (major) => {
      const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
      const { document } = await descriptionOf({}, major);
      expect(document.info.version).toBe(manifest.version);
      expect(parseSemanticVersion(document.info.version)).toBeDefined();
      const implementation = { name: 'another-host', version: '9.9.9', vendor: 'others' };
      const named = { discovery: { implementation } };
      expect((await descriptionOf(named, major)).document.info).toMatchObject({
        title: `another-host, major ${major}`,
        version: manifest.version,
      });
    },
  );

  test('answers 304 to a client that has the current description', async () => {
    const host = hostWith();
    const ask = (init: RequestInit) => host.fetch(new Request('http://host.test/v1/openapi.json', init));
    const etag = (await ask({})).headers.get('etag') ?? '';
    const again = await ask({ headers: { 'if-none-match': etag } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    const head = await ask({ method: 'HEAD' });
    expect([head.status, await head.text(), head.headers.get('etag')]).toEqual([200, '', etag]);
  });
});

describe('SVC-Version in the API description', () => {
  test.each<[string, Partial<HostOptions>, string, object]>([
    ['major 1', {}, '1', { enum: ['1'], default: '1' }],
    ['major 2 of a host that prefers major 1', {}, '2', { enum: ['2', '2.0'] }],
    ['a host of major 2 alone', HOSTS[3]?.[1] ?? {}, '2', { enum: ['2', '2.0'], default: '2' }],
  ])('has the values and the default of %s, and is never required', async (_title, options, major, schema) => {
    const { document } = await descriptionOf(options, major);
    const parameter = document.components.parameters['SVC-Version'];
    expect(parameter.schema).toEqual({ type: 'string', ...schema });
    expect(parameter).not.toHaveProperty('required');
  });
});

/** Reads the description of the mounts of a host with every mount. */
async function mountsDescriptionOf(options: Partial<HostOptions> = {}) {
  const agent = { name: 'a', description: 'An agent.', version: '1.0.0', skills: [] };
  const mounts = [a2aMount({ agent }), mcpMount(), chatMount({ workflowId: 'echo' })];
  const host = hostWith({ baseUrl: 'https://svc.test', org: 'acme', mounts, ...options });
  const response = await host.fetch(new Request('http://host.test/host/acme/openapi.json'));
  return { status: response.status, headers: response.headers, document: JSON.parse(await response.text()) };
}

describe(covers('operations.openapi.mounts'), () => {
  test('GET /host/<org>/openapi.json answers without a credential and without a version', async () => {
    const { status, headers } = await mountsDescriptionOf();
    expect([status, headers.get('cache-control'), headers.get('svc-version')]).toEqual([
      200,
      'public, max-age=300',
      null,
    ]);
  });

  test('describes every route of every mount, with its scope', async () => {
    const { document } = await mountsDescriptionOf({
      mounts: [
        () => ({
          name: 'notes',
          path: '/notes',
          routes: [
            { method: 'PUT', path: '/notes/{noteId}', scope: 'notes:write', takesBody: true, serve: async () => ok },
          ],
        }),
      ],
    });
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining(['/host/acme/webhooks/{webhookId}', '/host/acme/status', '/host/acme/notes/{noteId}']),
    );
    expect(document.paths['/host/acme/notes/{noteId}'].put).toMatchObject({
      operationId: 'putNotesNoteId',
      tags: ['notes'],
      security: [{ bearer: ['notes:write'] }],
      requestBody: { required: true },
    });
    expect(document.paths['/host/acme/status'].get).toMatchObject({
      operationId: 'readHostStatus',
      security: [{ bearer: ['webhooks:manage'] }],
    });
  });

  test('is clean under the rules of the linter', async () => {
    expect(lint((await mountsDescriptionOf()).document)).toBe('');
  });

  test('is clean on a host with every public route, and so is the description of the portal', async () => {
    const { host } = await publicHost();
    // The linter has a rule against the origin of this host.
    const servers = [{ url: 'https://svc.test' }];
    for (const path of ['openapi.json', 'portal/openapi.json']) {
      const response = await host.fetch(new Request(`${HOST}/host/example/${path}`));
      expect(lint({ ...(await response.json()), servers })).toBe('');
    }
    await host.stop(0);
  });

  test('every mount of the kit describes its routes', async () => {
    const { document } = await mountsDescriptionOf();
    expect(JSON.stringify(document)).not.toContain('does not describe this operation');
  });

  test('two routes with the same operationId are refused', () => {
    const twice = () => ({ name: 'twice', path: '/twice', routes: [route, route] });
    const route = { method: 'GET' as const, path: '/twice', takesBody: false, serve: async () => ok };
    expect(() => hostWith({ mounts: [twice] })).toThrow(/mounts: two routes have the operationId getTwice/);
  });
});

const ok = { status: 200 };

test.each<[string, () => Promise<{ document: Described }>]>([
  ['major 1', () => descriptionOf(EVERYTHING, '1')],
  ['major 2', () => descriptionOf(EVERYTHING, '2')],
  ['the mounts', () => mountsDescriptionOf(EVERYTHING)],
])(`${covers('operations.openapi.explains')} every operation and parameter of %s has a description`, async (...row) => {
  const { document } = await row[1]();
  const silent = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { description, parameters }]) => [
      ...(description ? [] : [`${method} ${path}`]),
      ...parameters
        .filter((parameter) => !('$ref' in parameter) && !parameter.description)
        .map(({ name }) => `${method} ${path} ${name}`),
    ]),
  );
  expect(silent).toEqual([]);
  expect(Object.values(document.components.parameters ?? {}).filter(({ description }) => !description)).toEqual([]);
});

interface Described {
  readonly paths: Record<string, Record<string, { description?: string; parameters: readonly Parameter[] }>>;
  readonly components: { readonly parameters?: Record<string, Parameter> };
}

interface Parameter {
  readonly name?: string;
  readonly description?: string;
}
