import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { served, VERSION_HEADER } from '@svc/versioning';
import { versioning } from '@svc/versioning/fetch';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { svcVersioning } from '../src/cli/command.ts';
import { MANIFEST } from '../src/manifest.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-versioning-retirement-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const keyFile = join(folder, 'key');
writeFileSync(keyFile, 'audit-key\n');

const URL_OF_HOST = 'https://svc.example';
const NOW = Date.UTC(2026, 5, 1);
const DEPRECATED = new Date(Date.UTC(2026, 0, 1));
const SUNSET = new Date(Date.UTC(2027, 0, 1));
const LINK = 'https://svc.example/v2';
const FULL = { deprecatedAt: DEPRECATED, sunsetAt: SUNSET, link: LINK };

/** A request of the check, in the words of a fault. */
interface Asked {
  readonly method: string;
  readonly path: string;
  readonly version: string | null;
}

/** Changes an answer of the host. */
type Fault = (answer: Response, asked: Asked) => Response | undefined;

interface Uses {
  readonly days: readonly object[];
  readonly callers: readonly object[];
}

const USES: Uses = {
  days: [
    { day: '2026-05-30', major: 1, requests: 5 },
    { day: '2026-05-31', major: 2, requests: 9 },
    { day: '2026-05-31', major: 1, requests: 2 },
  ],
  callers: [
    { lane: 'api-key', credential: 'key_1', majors: [{ major: 1, requests: 6, lastAt: '2026-05-31T12:00:00.000Z' }] },
    { lane: 'overflow', credential: '*', majors: [{ major: 1, requests: 1, lastAt: '2026-05-30T12:00:00.000Z' }] },
  ],
};

interface HostParts {
  readonly versions?: readonly string[];
  readonly retirement?: typeof FULL | undefined;
  readonly fault?: Fault;
  readonly uses?: Uses;
  readonly describes?: boolean;
}

/** A host of the real adapter, which the check reaches without a network. */
function hostOf(parts: HostParts) {
  const { versions = ['1.1', '2.0'], fault = () => undefined, uses = USES } = parts;
  const retirement = 'retirement' in parts ? parts.retirement : FULL;
  const preferred = versions[0] ?? '';
  const described = parts.describes ?? retirement !== undefined;
  const response = { headers: described ? { Deprecation: {}, Sunset: {} } : { ETag: {} } };
  const operation = { responses: { 200: response, 404: response } };
  const answer = versioning({
    served: served({ versions, preferred }),
    ...(retirement !== undefined && { retirement }),
    operation(request, { major, operation: { operationId } }) {
      if (operationId === 'openapi')
        return Response.json({ paths: { '/v1/runs': { post: operation }, '/runs': { post: { responses: {} } } } });
      if (operationId !== 'discovery') return Response.json({ error: 'unauthenticated' }, { status: 401 });
      const headers = { etag: `"${major}"`, vary: VERSION_HEADER };
      const isKnown = request.headers.get('if-none-match') === headers.etag;
      if (isKnown) return new Response(null, { status: 304, headers });
      return Response.json({ protocolVersions: versions, preferredVersion: preferred }, { headers });
    },
    foreign(request) {
      const { pathname } = new URL(request.url);
      if (request.headers.get('authorization') !== 'Bearer audit-key') return new Response(null, { status: 404 });
      if (pathname === '/host/acme/versions/days') return Response.json({ days: uses.days, isComplete: true });
      return Response.json({ callers: uses.callers, isComplete: true });
    },
  });
  return async (request: Request) => {
    const { pathname } = new URL(request.url);
    const asked = { method: request.method, path: pathname, version: request.headers.get(VERSION_HEADER) };
    const made = await answer(request);
    made.headers.set('date', new Date(NOW).toUTCString());
    return fault(made, asked) ?? made;
  };
}

/** Runs the check, and returns its exit code and the rules that are not kept. */
async function check(parts: HostParts, ...args: readonly string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const terminal = { stdout, stderr, fetch: hostOf(parts) };
  const code = await svcVersioning(['check', URL_OF_HOST, '--json', ...args], terminal);
  const out = String(stdout.read() ?? '[]');
  const findings: { rule: string; ok: boolean; note: string }[] = JSON.parse(out);
  return { code, broken: findings.filter(({ ok }) => !ok), err: String(stderr.read() ?? '') };
}

const ALIKE = 'every route of major 1 announces its retirement as discovery does';
const FORMS = 'the dates of the retirement are a Deprecation and a Sunset in their forms';
const TOGETHER = 'a Sunset is announced together with a Deprecation';
const ORDER = 'the sunset of major 1 is not before its deprecation';
const OVER = 'major 1 is not served after its sunset';
const DESCRIBED = 'the API description of major 1 has the headers of its retirement when they are sent';
const GONE = 'no operation of major 1 is served, because discovery lists none';
const SILENT = 'no answer of major 2 announces a retirement';
const COUNTED = 'the report of callers counts each request of major 1 that the report of days counts';
const AFTER = 'no request of major 1 is counted after its sunset';

const rulesOf = ({ broken }: Awaited<ReturnType<typeof check>>) => broken.map(({ rule }) => rule);
const withReport = ['--org', 'acme', '--key-file', keyFile];

describe('a host whose parts agree', () => {
  test.each<[string, HostParts]>([
    ['retires major 1', {}],
    ['has announced no sunset', { retirement: { deprecatedAt: DEPRECATED, link: LINK } as never }],
    ['does not retire major 1', { retirement: undefined }],
    ['has never had major 2', { versions: ['1.1'] }],
    ['has retired major 1', { versions: ['2.0'], retirement: undefined }],
  ])('and %s keeps every rule', async (_name, parts) => {
    expect(await check(parts)).toEqual({ code: 0, broken: [], err: '' });
  });
});

/** Every route by which a caller reaches major 1, as the check asks for it. */
const ROUTES = MANIFEST.filter(({ majors }) => majors.includes(1)).flatMap(({ operationId, method, path, majors }) => {
  const place = path.replace(/\{[^}]+\}/g, 'probe');
  const under = { operationId, method, path: `/v1${place}`, version: null, of: 1 };
  const both = majors.map((of) => ({ operationId, method, path: place, version: String(of), of }));
  return operationId === 'discovery' ? [] : [under, ...both];
});

/** Changes of one announcing header of an answer. */
const CHANGES: Readonly<Record<string, (headers: Headers) => void>> = {
  'without Deprecation': (headers) => headers.delete('deprecation'),
  'without Sunset': (headers) => headers.delete('sunset'),
  'without Link': (headers) => headers.delete('link'),
  'with another Deprecation': (headers) => headers.set('deprecation', '@1767225601'),
  'with another Sunset': (headers) => headers.set('sunset', new Date(SUNSET.getTime() + 1000).toUTCString()),
  'with another Link': (headers) => headers.set('link', '<https://svc.example/v3>; rel="deprecation"'),
  'with a boolean Deprecation': (headers) => headers.set('deprecation', 'true'),
  'without any of them': (headers) => {
    for (const name of ['deprecation', 'sunset', 'link']) headers.delete(name);
  },
};

describe('generated faults', () => {
  const isOf = (route: (typeof ROUTES)[number], { method, path, version }: Asked) =>
    route.method === method && route.path === path && route.version === version;

  test('one route of major 1 that differs from discovery is found, and named', async () => {
    const routes = ROUTES.filter(({ of }) => of === 1);
    const anyRoute = fc.constantFrom(...routes);
    const anyChange = fc.constantFrom(...Object.keys(CHANGES));
    await fc.assert(
      fc.asyncProperty(anyRoute, anyChange, async (route, change) => {
        const fault: Fault = (answer, asked) => {
          if (isOf(route, asked)) CHANGES[change]?.(answer.headers);
          return undefined;
        };
        const { code, broken } = await check({ fault });
        expect([code, broken.map(({ rule }) => rule)]).toEqual([1, [ALIKE]]);
        expect(broken[0]?.note).toContain(route.operationId);
      }),
      { numRuns: 25 },
    );
  });

  test('discovery that differs from every route is found', async () => {
    for (const change of Object.keys(CHANGES)) {
      const fault: Fault = (answer, { path, version }) => {
        if (path === '/.well-known/svc' && version === '1') CHANGES[change]?.(answer.headers);
        return undefined;
      };
      expect(rulesOf(await check({ fault })), change).toContain(ALIKE);
    }
  });

  test('an announcement on a route of major 2 is found', async () => {
    const routes = ROUTES.filter(({ of }) => of === 2);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...routes), fc.constantFrom('deprecation', 'sunset'), async (route, name) => {
        const fault: Fault = (answer, asked) => {
          if (isOf(route, asked)) answer.headers.set(name, '@1');
          return undefined;
        };
        const { broken } = await check({ fault });
        expect(broken).toEqual([
          { rule: SILENT, ok: false, note: expect.stringContaining(`${route.operationId} of major 2`) },
        ]);
      }),
      { numRuns: 12 },
    );
  });

  test('major 1 is served until its sunset, and no longer', async () => {
    const property = fc.asyncProperty(fc.integer({ min: -400, max: 400 }), async (days) => {
      const at = new Date(SUNSET.getTime() + days * 86_400_000).toISOString();
      expect(rulesOf(await check({}, '--at', at))).toEqual(days < 0 ? [] : [OVER]);
    });
    await fc.assert(property, { numRuns: 8 });
    // Without --at, the clock of the host decides.
    const over = { ...FULL, sunsetAt: new Date(NOW) };
    expect(rulesOf(await check({ retirement: over }))).toEqual([OVER]);
  });
});

/** Sets headers on every answer of major 1. */
const everywhere =
  (headers: Readonly<Record<string, string | undefined>>): Fault =>
  (answer) => {
    if (!answer.headers.get(VERSION_HEADER)?.startsWith('1.')) return undefined;
    for (const [name, value] of Object.entries(headers)) {
      if (value === undefined) answer.headers.delete(name);
      else answer.headers.set(name, value);
    }
    return undefined;
  };

describe('each rule finds its fault', () => {
  test.each<[string, HostParts, readonly string[]]>([
    ['a date of another form', { fault: everywhere({ deprecation: 'Thu, 01 Jan 2026 00:00:00 GMT' }) }, [FORMS]],
    ['a sunset of another form', { fault: everywhere({ sunset: '2027-01-01T00:00:00Z' }) }, [FORMS]],
    ['a sunset without a deprecation', { fault: everywhere({ deprecation: undefined }) }, [TOGETHER]],
    ['a sunset before the deprecation', { fault: everywhere({ deprecation: '@1830297600' }) }, [ORDER]],
    ['an announcement that the description does not have', { describes: false }, [DESCRIBED]],
    ['a described announcement that is not sent', { retirement: undefined, describes: true }, [DESCRIBED]],
    [
      'an operation of major 1 after its retirement',
      {
        ...{ versions: ['2.0'], retirement: undefined },
        fault: (_, { path }) => (path === '/v1/webhooks' ? Response.json({}, { status: 401 }) : undefined),
      },
      [GONE],
    ],
    [
      'a refused version under major 1 without the announcement',
      {
        fault(answer, { version }) {
          if (version === '999') answer.headers.delete('sunset');
          return undefined;
        },
      },
      [ALIKE],
    ],
  ])('%s', async (_name, parts, expected) => {
    const found = await check(parts);
    expect([found.code, rulesOf(found)]).toEqual([1, expected]);
  });
});

describe('the counted callers', () => {
  const day = (requests: number, of = '2026-05-31') => ({ day: of, major: 1, requests });
  const caller = (requests: number, lastAt = '2026-05-31T12:00:00.000Z') => ({
    ...{ lane: 'api-key', credential: 'key_1' },
    majors: [
      { major: 1, requests, lastAt },
      { major: 2, requests: 8, lastAt: '2027-02-01T00:00:00.000Z' },
    ],
  });

  test.each<[string, HostParts, readonly string[]]>([
    ['that agree with the days and the dates pass', {}, []],
    ['of no request at all pass', { uses: { days: [], callers: [] } }, []],
    ['that lack a request of a day', { uses: { days: [day(4)], callers: [caller(3)] } }, [COUNTED]],
    ['with a request that no day has', { uses: { days: [day(4)], callers: [caller(5)] } }, [COUNTED]],
    ['that name no caller for the requests of a day', { uses: { days: [day(4)], callers: [] } }, [COUNTED]],
    [
      'with a request after the sunset',
      { uses: { days: [day(4)], callers: [caller(4, '2027-01-01T00:00:00.001Z')] } },
      [AFTER],
    ],
    ['of a day after the sunset', { uses: { days: [day(4, '2027-01-02')], callers: [caller(4)] } }, [AFTER]],
  ])('%s', async (_name, parts, expected) => {
    const found = await check(parts, ...withReport);
    expect([found.code, rulesOf(found)]).toEqual([expected.length === 0 ? 0 : 1, expected]);
  });

  test('are compared with the days before and after, because they grow', async () => {
    let asked = 0;
    const fault: Fault = (_, { path }) =>
      path.endsWith('/days') ? Response.json({ days: [day(++asked * 3)], isComplete: true }) : undefined;
    expect(rulesOf(await check({ fault, uses: { days: [], callers: [caller(5)] } }, ...withReport))).toEqual([]);
  });

  test('of a host that does not tell them are no agreement', async () => {
    const fault: Fault = (_, { path }) => (path.endsWith('/callers') ? Response.json({}) : undefined);
    expect(await check({ fault }, ...withReport)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/without callers/),
    });
  });
});

test.each([
  ['--at', '2027-01-01'],
  ['--at', 'tomorrow'],
  ['--org', '../x', '--key-file', keyFile],
])('rejects the arguments %j', async (...args) => {
  expect(await check({}, ...args)).toMatchObject({ code: 2, err: expect.stringContaining(`${args[0]}: must be`) });
});
