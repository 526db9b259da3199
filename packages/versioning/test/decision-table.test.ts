import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { checkVendorOrg, MANIFEST, negotiate, pairingProblems, type Served, served } from '../src/index.ts';

/** One host in each phase. */
const HOSTS: readonly { readonly name: string; readonly served: Served }[] = [
  { name: 'only major 1', served: served({ versions: ['1.1'], preferred: '1.1' }) },
  { name: 'the overlap', served: served({ versions: ['1.1', '2.0'], preferred: '1.1' }) },
  { name: 'only major 2', served: served({ versions: ['2.0'], preferred: '2.0' }) },
];

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'get', ''];
const HEADERS = [
  undefined,
  '1',
  '1.1',
  '1.9',
  '2',
  '2.0',
  '3',
  '0',
  '01',
  '2.',
  '2.0.0',
  'v2',
  '',
  ' ',
  '2, 2',
  '2,1',
  'latest',
  '9'.repeat(400),
];

/** The interface's table, written a second time and independently of the code under test. */
function expected(
  { served: { majors, preferredMajor, versions } }: (typeof HOSTS)[number],
  isUnderV1: boolean,
  header: string | undefined,
): string {
  const named = header === undefined ? undefined : /^(0|[1-9]\d*)(\.(0|[1-9]\d*))?$/.exec(header)?.[1];
  const isListed = versions.some((version) => version.split('.')[0] === named);
  if (isUnderV1) {
    if (!majors.has(1)) return 'foreign';
    return header === undefined || header === '1' ? 'major 1' : '400 protocol_version_mismatch';
  }
  if (header === undefined) return `major ${preferredMajor}`;
  return isListed ? `major ${named}` : '406 protocol_version_unsupported';
}

function found(target: string, method: string, header: string | undefined, under: Served): string {
  const headers = header === undefined ? {} : { 'svc-version': header };
  const negotiation = negotiate({ method, target, headers }, under);
  if (negotiation.kind === 'foreign') return 'foreign';
  if (negotiation.kind === 'refused') return `${negotiation.error.status} ${negotiation.error.code}`;
  return `major ${negotiation.major}`;
}

describe.each(HOSTS)(
  `${covers(
    'versioning.paths.unversioned-twin',
    'versioning.paths.unversioned-root-not-400',
    'versioning.request.absent-preferred',
    'versioning.request.v1-path-mismatch',
    'versioning.request.unlisted-major-406',
    'versioning.advertisement.retirement-atomic',
  )}, $name`,
  (host) => {
    test.each(HEADERS)('decides SVC-Version: %s on every path with every method as the table says', (header) => {
      for (const { path } of MANIFEST) {
        const plain = path.replace(/\{[^}]+\}/g, 'x');
        for (const method of METHODS) {
          const context = [method, plain, header];
          expect([...context, found(plain, method, header, host.served)]).toEqual([
            ...context,
            expected(host, false, header),
          ]);
          if (path === '/.well-known/svc') continue;
          const twin = `/v1${plain}`;
          expect([...context, found(twin, method, header, host.served)]).toEqual([
            ...context,
            expected(host, true, header),
          ]);
        }
      }
    });
  },
);

describe.each(HOSTS)(
  `${covers(
    'versioning.paths.no-v2-space',
    'versioning.paths.seams-not-bound',
    'versioning.paths.vendor-any-version',
  )}, $name`,
  ({ served: under }) => {
    test.each([
      '/v2/runs',
      '/v2/',
      '/v3/runs',
      '/',
      '/test/seam',
      '/host/acme/tools',
      '/host/acme/tools/deep',
      '/assets/logo.svg',
      '/RUNS',
      '/runsx',
    ])('treats %s as foreign with every SVC-Version', (target) => {
      for (const header of HEADERS)
        for (const method of METHODS) expect(found(target, method, header, under)).toBe('foreign');
    });
  },
);

describe(covers('versioning.paths.vendor-twin-retires'), () => {
  test('requires major 1 on the /v1 twin of a vendor path, and drops the twin with major 1', () => {
    const [one, overlap, two] = HOSTS.map(({ served: under }) => under);
    for (const under of [one, overlap]) {
      if (under === undefined) continue;
      expect(found('/v1/host/acme/tools', 'GET', undefined, under)).toBe('foreign');
      expect(found('/v1/host/acme/tools', 'GET', '2', under)).toBe('400 protocol_version_mismatch');
    }
    if (two !== undefined) expect(found('/v1/host/acme/tools', 'GET', '2', two)).toBe('foreign');
  });
});

describe(covers('versioning.paths.org-not-a-segment'), () => {
  test.each([
    ...['runs', 'webhooks', 'v1', 'host', 'openapi.json', 'events', 'effect-seams'],
    // The first words of event types: the events of such an organization would be taken for those of the protocol.
    ...['agent', 'node', 'memory', 'voice', 'core', 'run', 'import', 'tool', 'workflow-chain'],
  ])('rejects %s', (org) => {
    expect(() => checkVendorOrg(org)).toThrow(TypeError);
  });
  test.each(['acme', 'example', 'my-company'])('accepts %s', (org) => {
    expect(() => checkVendorOrg(org)).not.toThrow();
  });
});

describe('no other spelling of a path reaches an operation under another major', () => {
  const SPELLINGS = [
    ...[
      '/v1//runs/x',
      '//v1/runs/x',
      '/v1/runs//x',
      '/v1/./runs/x',
      '/v1/../runs/x',
      '/runs/../v1/runs/x',
      '/v1/runs/x/',
      '/runs/x/',
    ],
    ...[
      '/v1/runs/x/.',
      '/%2e/runs/x',
      '/v1/%2E%2e/runs/x',
      '/runs/x\\y',
      '/v1\\runs\\x',
      '/runs/x#y',
      '/runs/é',
      '/runs/%zz',
      '/runs/%',
    ],
    ...['http://evil.example/runs/x', 'runs/x', '', '*', '/runs/x\u0000', '/runs/x y'],
  ];
  test.each(SPELLINGS)('reaches no operation by %j', (target) => {
    for (const { served: under } of HOSTS) {
      for (const header of [undefined, '1', '2']) {
        const outcome = found(target, 'GET', header, under);
        expect(['foreign', '400 validation_error', '400 protocol_version_mismatch']).toContain(outcome);
      }
    }
  });

  test.each(['/%76%31/runs/x', '/v1%2Fruns%2Fx', '/%72uns/x', '/V1/runs/x'])('treats %s as another path', (target) => {
    for (const { served: under } of HOSTS) expect(found(target, 'GET', undefined, under)).toBe('foreign');
  });

  test('keeps an encoded slash inside its parameter', () => {
    const under = HOSTS[1]?.served ?? served({ versions: ['2.0'], preferred: '2.0' });
    const negotiation = negotiate({ method: 'GET', target: '/runs/a%2Fevents', headers: {} }, under);
    expect(negotiation).toMatchObject({
      kind: 'operation',
      operation: { operationId: 'readRun' },
      params: { runId: 'a%2Fevents' },
    });
  });
});

describe(covers('versioning.paths.pairing'), () => {
  const overlap = served({ versions: ['1.1', '2.0'], preferred: '1.1' });
  test.each(MANIFEST.filter(({ majors }) => majors.length === 2).map(({ operationId }) => operationId))(
    'reports %s when it is served under one major only',
    (operationId) => {
      for (const only of [1, 2]) {
        const serves = (id: string, major: number) => id === operationId && major === only;
        expect(pairingProblems(serves, overlap)).toEqual([expect.stringContaining(operationId)]);
      }
      expect(pairingProblems((id) => id === operationId, overlap)).toEqual([]);
    },
  );
});

describe(covers('versioning.advertisement.lists-all', 'versioning.advertisement.single-major-equal'), () => {
  test('advertises exactly the versions that are served', () => {
    for (const { served: under } of HOSTS) {
      expect(new Set(under.versions.map((version) => Number(version.split('.')[0])))).toEqual(new Set(under.majors));
      expect(under.versions).toContain(under.preferred);
      if (under.majors.size === 1) expect(under.contractOf(under.preferredMajor)).toBe(under.preferred);
    }
  });
});
