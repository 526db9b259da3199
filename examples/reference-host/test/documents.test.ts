import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib';
import { covers } from '@svc/tools/covers';
import { strictValidator } from '@svc/tools/json-schema';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningHost, scratch } from './booted-host.ts';
import { bearer, sender } from './callers.ts';
import { bootInProcess } from './host-in-process.ts';

const KEY = 'operator_brought_key_of_enough_characters';
const PAGE = 'https://console.example.com';
const folder = scratch();
let host: RunningHost;
beforeAll(async () => {
  host = await bootInProcess(folder.path('config.json'), {
    listen: { port: 0 },
    store: 'memory:',
    tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
    apiKeys: [{ id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['*'], principal: 'p_1', scopes: ['*:*'] }],
    cors: { origins: [PAGE] },
    mounts: { mcp: true, publicChat: { tenant: 'acme', workspace: 'acme-prod' } },
  });
});
afterAll(async () => {
  await host?.end();
  folder.remove();
});

const call = sender(() => host.url);
const DESCRIPTIONS = [
  ['/v1/openapi.json', '1'],
  ['/openapi.json', '2'],
  ['/host/example/openapi.json', undefined],
] as const;
const inMajor = (major: string | undefined) => (major === undefined ? {} : { 'svc-version': major });

/** Sends a request, and returns the bytes as they were sent, which `fetch` would decode. */
function raw(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const given = { ...bearer(KEY), 'svc-version': '2', ...headers };
  return new Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer }>((resolve, reject) => {
    httpRequest(host.url + path, { method, headers: given, agent: false }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
    })
      .on('error', reject)
      .end();
  });
}

const DECODE = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync } as const;
const CODINGS = ['zstd', 'br', 'gzip'] as const;

describe(covers('operations.encodings.negotiated', 'operations.encodings.advertised'), () => {
  test.each<[string, (typeof CODINGS)[number] | undefined]>([
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip;q=1.0, br;q=0.8, zstd;q=0', 'gzip'],
    ['br;q=0.5, gzip;q=0.5', 'br'],
    ['*', 'zstd'],
    ['*;q=0.1, gzip', 'gzip'],
    ['*;q=0, br', 'br'],
    ['gzip;q=0', undefined],
    ['identity;q=1, gzip;q=0.5', undefined],
    ['deflate, compress', undefined],
  ])('Accept-Encoding: %j is answered in %s', async (accepted, coding) => {
    const { headers } = await raw('/openapi.json', { 'accept-encoding': accepted });
    expect(headers['content-encoding']).toBe(coding);
  });

  test('both documents name the codings', async () => {
    for (const major of ['1', '2']) {
      const { body } = await call('/.well-known/svc', { headers: inMajor(major) });
      expect(body.restTransport.contentEncodings).toEqual(CODINGS);
    }
  });
});

describe(covers('operations.encodings.coded', 'operations.encodings.validators'), () => {
  test.each(['/openapi.json', '/.well-known/svc'])(
    '%s is the same in every coding, with a tag of each',
    async (path) => {
      const plain = await raw(path);
      expect(plain.headers).toMatchObject({
        vary: 'SVC-Version, Accept-Encoding, Origin',
        etag: expect.stringMatching(/^"[^"]+"$/),
      });
      expect(plain.headers).not.toHaveProperty('content-encoding');
      const tags = new Map<string, string | undefined>([['identity', plain.headers.etag]]);
      for (const coding of CODINGS) {
        const coded = await raw(path, { 'accept-encoding': coding });
        expect(coded.headers).toMatchObject({ 'content-encoding': coding, vary: plain.headers.vary });
        expect(DECODE[coding](coded.body).equals(plain.body)).toBe(true);
        expect(coded.headers.etag).toMatch(/^"[^"]+"$/);
        tags.set(coding, coded.headers.etag);
        const head = await raw(path, { 'accept-encoding': coding }, 'HEAD');
        expect([head.body.length, { ...head.headers, date: '' }]).toEqual([0, { ...coded.headers, date: '' }]);
      }
      expect(new Set(tags.values()).size).toBe(4);
      for (const [coding, tag] of tags) {
        for (const accepted of tags.keys()) {
          const { status, headers } = await raw(path, { 'accept-encoding': accepted, 'if-none-match': String(tag) });
          // The plain representation is acceptable to every client, so its tag validates it for each of them.
          const isValid = coding === accepted || coding === 'identity';
          expect([coding, accepted, status]).toEqual([coding, accepted, isValid ? 304 : 200]);
          expect(headers.etag).toBe(isValid ? tag : tags.get(accepted));
        }
      }
    },
  );
});

describe(covers('operations.encodings.request-415'), () => {
  test.each([
    ['gzip', 415],
    ['zstd', 415],
    ['deflate, gzip', 415],
    ['nonsense', 415],
    ['identity', 201],
  ])('a body with Content-Encoding: %s is answered %i', async (coding, status) => {
    const json = Buffer.from(JSON.stringify({ workflowId: 'echo', inputs: {} }));
    const headers = { ...bearer(KEY), 'content-type': 'application/json', 'content-encoding': coding };
    const body = coding === 'gzip' ? gzipSync(json) : json;
    const response = await fetch(`${host.url}/v1/runs`, { method: 'POST', headers, body });
    expect(response.status).toBe(status);
    if (status === 415) expect(await response.json()).toMatchObject({ error: 'unsupported_media_type' });
  });
});

describe.each(DESCRIPTIONS)('GET %s', (path, major) => {
  test(
    covers('operations.openapi.served', 'operations.openapi.mounts', 'versioning.axes.api-description'),
    async () => {
      const answer = await call(path, { headers: inMajor(major) });
      expect([answer.status, answer.body.openapi]).toEqual([200, expect.stringMatching(/^3\.1\./)]);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
      if (major !== undefined) {
        const etag = answer.headers.get('etag') ?? '';
        expect(etag).toMatch(/^"[^"]+"$/);
        const again = await call(path, { headers: { ...inMajor(major), 'if-none-match': etag } });
        expect([again.status, again.text]).toEqual([304, '']);
      }
      const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
      expect(answer.body.info.version).toBe(version);
      for (const each of Object.keys(answer.body.paths))
        expect(each).toMatch(
          major === '1' ? /^\/(v1|\.well-known)\// : major === '2' ? /^\/(?!v1\/)/ : /^\/host\/example\//,
        );
    },
  );

  test(covers('operations.openapi.explains'), async () => {
    const { body } = await call(path, { headers: inMajor(major) });
    const silent: string[] = [];
    for (const [template, methods] of Object.entries<Record<string, Operation>>(body.paths)) {
      for (const [method, { description, parameters = [] }] of Object.entries(methods)) {
        if (!description) silent.push(`${method} ${template}`);
        for (const parameter of parameters)
          if (!('$ref' in parameter) && !parameter.description) silent.push(`${method} ${template} ${parameter.name}`);
      }
    }
    for (const [name, { description }] of Object.entries<Parameter>(body.components.parameters ?? {}))
      if (!description) silent.push(name);
    expect(silent).toEqual([]);
  });

  test(covers('operations.openapi.lints'), async () => {
    const { text } = await call(path, { headers: inMajor(major) });
    expect(lint(text)).toEqual({ errors: 0, warnings: 0 });
  });
});

interface Parameter {
  readonly name?: string;
  readonly description?: string;
}
interface Operation {
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
}

/** Returns how many problems redocly reports under its recommended rules. */
function lint(document: string): { readonly errors: number; readonly warnings: number } {
  const place = mkdtempSync(join(tmpdir(), 'svc-lint-'));
  try {
    writeFileSync(join(place, 'openapi.json'), document);
    const command = fileURLToPath(new URL('../../../node_modules/@redocly/cli/bin/cli.js', import.meta.url));
    const { stdout } = spawnSync(
      process.execPath,
      [command, 'lint', 'openapi.json', '--extends=recommended', '--format=json'],
      // By default it reports its use to its makers, and asks them for a newer version.
      {
        cwd: place,
        encoding: 'utf8',
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      },
    );
    const { errors, warnings } = JSON.parse(stdout).totals;
    return { errors, warnings };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

describe(covers('operations.http.cors'), () => {
  const grants = (headers: Headers) => [...headers.keys()].filter((name) => name.startsWith('access-control-'));
  const preflight = (path: string, origin: string) =>
    fetch(host.url + path, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } });

  test('a preflight of the configured origin permits every operation, and tells no path from another', async () => {
    const answers: object[] = [];
    for (const path of ['/v1/runs', '/v1/runs/run_unknown', '/v1/no-such-path', '/runs', '/host/example/status']) {
      const { status, headers } = await preflight(path, PAGE);
      expect([status, headers.get('access-control-allow-origin')]).toEqual([204, PAGE]);
      answers.push(grants(headers).map((name) => [name, headers.get(name)]));
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });

  test.each(['https://evil.example', `${PAGE}.evil.example`, PAGE.replace('https', 'http'), `${PAGE}:8443`, 'null'])(
    'the page of %s reads nothing',
    async (origin) => {
      for (const path of ['/v1/runs', '/v1/no-such-path']) {
        const { status, headers } = await preflight(path, origin);
        expect([status, grants(headers)]).toEqual([204, []]);
      }
      const answer = await fetch(`${host.url}/.well-known/svc`, { headers: { origin } });
      expect([answer.status, grants(answer.headers)]).toEqual([200, []]);
    },
  );

  test('the page of the configured origin reads answers and refusals', async () => {
    for (const path of ['/.well-known/svc', '/v1/runs/run_1']) {
      const { headers } = await fetch(host.url + path, { headers: { origin: PAGE } });
      expect(headers.get('access-control-allow-origin')).toBe(PAGE);
      expect(headers.get('access-control-expose-headers')).toContain('SVC-Version');
      expect(headers.get('vary')).toMatch(/(^|, )Origin$/);
    }
  });
});

describe(covers('events.schema.published', 'versioning.release.schema-identifiers'), () => {
  test.each([
    ['v1', /^https:\/\/[^/]+\/spec\/v1\//],
    ['v2', /^https:\/\/[^/]+\/spec\/v2\//],
  ])('the delivery schema of %s is served to every caller, and a strict validator takes it', async (major, id) => {
    const path = `/host/example/schemas/${major}/webhook-delivery.schema.json`;
    const { status, headers, body } = await call(path);
    expect([status, headers.get('svc-version'), body.$id]).toEqual([200, null, expect.stringMatching(id)]);
    expect(strictValidator(body)({})).not.toEqual([]);
    const file = new URL(`../../../packages/host-kit/schemas/${major}/webhook-delivery.schema.json`, import.meta.url);
    expect(body).toEqual(JSON.parse(readFileSync(file, 'utf8')));
  });
});

describe(
  covers(
    'discovery.document.v1-families-at-root',
    'versioning.advertisement.lists-all',
    'limits.discovery.reference-values',
    'webhooks.durable.reference-defaults',
    'versioning.axes.minimum-suite-version',
    'versioning.axes.signature-scheme',
  ),
  () => {
    const documentOf = async (major: string) => (await call('/.well-known/svc', { headers: inMajor(major) })).body;

    test('major 1 has every record at its root, as under capabilities', async () => {
      const document = await documentOf('1');
      expect(Object.keys(document.capabilities).length).toBeGreaterThan(8);
      for (const [name, record] of Object.entries(document.capabilities))
        expect([name, document[name]]).toEqual([name, record]);
    });

    test('both list both versions, and neither names a suite version or the version of a signature', async () => {
      for (const major of ['1', '2']) {
        const document = await documentOf(major);
        expect(document.protocolVersions).toEqual(['1.1', '2.0']);
        expect(JSON.stringify(document)).not.toContain('minimumSuiteVersion');
        expect(JSON.stringify(document)).not.toContain('signatureVersion');
      }
    });

    test('limits and the retry policy have the values of the tables', async () => {
      const [v1, v2] = [await documentOf('1'), await documentOf('2')];
      for (const { limits } of [v1, v2])
        expect(limits).toMatchObject({
          ...{ clarificationRounds: 5, schemaRounds: 3, envelopesPerTurn: 32 },
          ...{ maxNodeExecutions: 1000, maxRunDurationMs: 600_000, maxRequestBodyBytes: 1_048_576 },
        });
      expect(v1.workspace.maxFileBytes).toBe(65_536);
      for (const { httpClient } of [v1, v2])
        expect(httpClient).toMatchObject({ maxResponseBodyBytes: 10_485_760, requestTimeoutMs: 30_000 });
      expect(v2.webhooks).toMatchObject({
        retryPolicy: { maxAttempts: 3, backoff: 'fixed' },
        deadLetter: { retentionDays: 30 },
      });
    });
  },
);

test(`${covers('webhooks.url.loopback-switch')} Without it, this machine is denied`, async () => {
  for (const url of ['http://127.0.0.1:8080/', 'https://127.0.0.1/', 'https://[::1]/', 'https://localhost/']) {
    const body = { url, events: ['run.completed'] };
    const { status, body: refused } = await call('/webhooks', { headers: { ...bearer(KEY), ...inMajor('2') }, body });
    expect([url, status, refused.error]).toEqual([url, 400, 'webhook_url_rejected']);
  }
});
