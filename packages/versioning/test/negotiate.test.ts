import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MANIFEST, negotiate, pairingProblems, served } from '../src/index.ts';
import { mergeVary } from '../src/respond.ts';

const both = served({ versions: ['1.1', '2.0'], preferred: '1.1', minClientVersion: '1.2' });
const onlyV2 = served({ versions: ['2.0', '2.3'], preferred: '2.3' });

function outcome(
  target: string,
  version?: string,
  options: { method?: string; client?: string; under?: typeof both } = {},
): string {
  const { method = 'POST', client, under = both } = options;
  const headers = new Headers();
  if (version !== undefined) headers.set('svc-version', version);
  if (client !== undefined) headers.set('svc-client-version', client);
  const negotiation = negotiate({ method, target, headers }, under);
  switch (negotiation.kind) {
    case 'operation':
      return `${negotiation.major} ${negotiation.contract} ${negotiation.operation.operationId}`;
    case 'refused':
      return `${negotiation.error.status} ${negotiation.error.code}`;
    default:
      return negotiation.kind;
  }
}

describe(
  covers(
    'versioning.request.major-or-full',
    'versioning.request.listed-major-served',
    'versioning.request.unlisted-major-406',
    'versioning.request.malformed-406',
    'versioning.request.repeated-malformed',
    'versioning.request.absent-preferred',
    'versioning.request.v1-path-accepts-1',
    'versioning.request.v1-path-mismatch',
  ),
  () => {
    test.each([
      ['/runs', undefined, '1 1.1 createRun'],
      ['/runs', '1', '1 1.1 createRun'],
      ['/runs', '2', '2 2.0 createRun'],
      ['/runs', '2.0', '2 2.0 createRun'],
      ['/runs', '2.9', '2 2.0 createRun'],
      ['/runs', '3', '406 protocol_version_unsupported'],
      ['/runs', '02', '406 protocol_version_unsupported'],
      ['/runs', '2.', '406 protocol_version_unsupported'],
      ['/runs', '2, 2', '406 protocol_version_unsupported'],
      ['/runs', '', '406 protocol_version_unsupported'],
      ['/runs', 'latest', '406 protocol_version_unsupported'],
      ['/v1/runs', undefined, '1 1.1 createRun'],
      ['/v1/runs', '1', '1 1.1 createRun'],
      ['/v1/runs', '1.0', '400 protocol_version_mismatch'],
      ['/v1/runs', '1.1', '400 protocol_version_mismatch'],
      ['/v1/runs', '01', '400 protocol_version_mismatch'],
      ['/v1/runs', '2', '400 protocol_version_mismatch'],
      ['/v1/runs', 'x', '400 protocol_version_mismatch'],
      ['/v1/runs', '1, 1', '400 protocol_version_mismatch'],
      ['/v1/nothing', '2', '400 protocol_version_mismatch'],
      ['/v1/nothing', undefined, 'foreign'],
      ['/v2/runs', '2', 'foreign'],
    ])('decides %s with SVC-Version %j: %s', (target, version, expected) =>
      expect(outcome(target, version)).toBe(expected),
    );

    test('lists the served versions in the error', () => {
      const negotiation = negotiate(
        { method: 'GET', target: '/runs', headers: new Headers({ 'svc-version': '9' }) },
        both,
      );
      expect(negotiation).toMatchObject({
        kind: 'refused',
        contract: '1.1',
        error: { details: { protocolVersions: ['1.1', '2.0'] } },
      });
    });
  },
);

describe(
  covers('versioning.advertisement.retirement-atomic', 'versioning.advertisement.after-overlap-prefers-2x'),
  () => {
    test.each([
      ['/v1/runs', undefined, 'foreign'],
      ['/v1/runs', '2', 'foreign'],
      ['/runs', undefined, '2 2.3 createRun'],
      ['/runs', '1', '406 protocol_version_unsupported'],
    ])('decides %s with SVC-Version %j: %s', (target, version, expected) =>
      expect(outcome(target, version, { under: onlyV2 })).toBe(expected),
    );
  },
);

describe(
  covers(
    'versioning.client.below-minimum-426',
    'versioning.client.header-form',
    'versioning.client.discovery-not-exempt',
  ),
  () => {
    test.each([
      ['/runs', '1.1', '426 client_version_unsupported'],
      ['/runs', '1.1.9', '426 client_version_unsupported'],
      ['/v1/runs', '0.9', '426 client_version_unsupported'],
      ['/.well-known/svc', '1.0', '426 client_version_unsupported'],
      ['/runs', '1.2', '1 1.1 createRun'],
      ['/runs', '1.10.0', '1 1.1 createRun'],
      ['/runs', 'ancient', '1 1.1 createRun'],
    ])('decides %s from client %s: %s', (target, client, expected) => {
      const method = target === '/runs' || target === '/v1/runs' ? 'POST' : 'GET';
      expect(outcome(target, undefined, { client, method })).toBe(expected);
    });
  },
);

describe('paths', () => {
  test.each([
    ['GET', '/runs/acme~2Frun_1', '1 1.1 readRun'],
    ['GET', '/runs/acme%2Frun_1', '1 1.1 readRun'],
    ['HEAD', '/runs/r', '1 1.1 readRun'],
    ['POST', '/runs/r:fork', '1 1.1 forkRun'],
    ['POST', '/runs:bulk-cancel', '1 1.1 bulkCancelRuns'],
    ['POST', '/runs/r:unknown', 'foreign'],
    ['POST', '/runs/:fork', 'foreign'],
    ['PUT', '/runs', 'method-not-allowed'],
    ['OPTIONS', '/runs', 'method-not-allowed'],
    ['GET', '/runs', 'method-not-allowed'],
    ['GET', '/v1/host/effect-seams', 'absent'],
    ['GET', '/v1/.well-known/svc', 'foreign'],
    ['GET', '/.well-known/svc', '1 1.1 discovery'],
    ['GET', '/v1/host/workspace/files', '1 1.1 listWorkspaceFiles'],
    ['GET', '/host/acme/anything', 'foreign'],
    ['GET', '/', 'foreign'],
    ['GET', "/runs/r?a='[]{}|^", '1 1.1 readRun'],
    ['GET', '/runs/r?a#b', '400 validation_error'],
    ['GET', '/runs/', '400 validation_error'],
    ['GET', '//runs/r', '400 validation_error'],
    ['GET', '/runs//r', '400 validation_error'],
    ['GET', '/v1/../runs/r', '400 validation_error'],
    ['GET', '/v1/%2e%2E/runs', '400 validation_error'],
    ['GET', '/runs/.', '400 validation_error'],
    ['GET', '/v1\\runs', '400 validation_error'],
    ['GET', '/runs/r#x', '400 validation_error'],
    ['GET', '/runs/a b', '400 validation_error'],
    ['GET', '/runs/é', '400 validation_error'],
    ['GET', '/runs/%zz', '400 validation_error'],
    ['GET', 'http://evil/runs/r', '400 validation_error'],
    ['GET', '*', '400 validation_error'],
    ['GET', '/%72uns/r', 'foreign'],
    ['GET', '/RUNS/r', 'foreign'],
  ])('decides %s %s: %s', (method, target, expected) => expect(outcome(target, undefined, { method })).toBe(expected));

  test('reaches an operation only by its own path', () => {
    const segment = fc.constantFrom(
      'runs',
      'v1',
      '..',
      '.',
      '%2e',
      '',
      'webhooks',
      'a%2Fb',
      'host',
      'x',
      '%76%31',
      ':fork',
      'r:fork',
    );
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (segments) => {
        const target = `/${segments.join('/')}`;
        const found = outcome(target, undefined, { method: 'GET' });
        if (!/^[12] /.test(found)) return;
        const normalised = new URL(target, 'http://host').pathname;
        expect(normalised).toBe(target);
        expect(found.startsWith('1 ')).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe(covers('versioning.paths.unversioned-twin'), () => {
  test.each(
    MANIFEST.filter(({ majors }) => majors.length === 2).map(
      (operation) => [operation.method, operation.path, operation.operationId] as const,
    ),
  )('reaches %s %s under both majors', (method, template, operationId) => {
    const path = template.replace(/\{\w+\}/g, 'segment');
    expect(outcome(path, '2', { method })).toBe(`2 2.0 ${operationId}`);
    if (path !== '/.well-known/svc') expect(outcome(`/v1${path}`, undefined, { method })).toBe(`1 1.1 ${operationId}`);
  });
});

describe(covers('versioning.paths.pairing'), () => {
  test('reports an operation that is served under one advertised major only', () => {
    expect(pairingProblems((id) => id === 'createRun' || id === 'listRuns', both)).toEqual([]);
    expect(pairingProblems((id, major) => id === 'createRun' && major === 1, both)).toEqual([
      'createRun (POST /runs): is served under major 1 but not under 2. Serve both or neither.',
    ]);
    expect(pairingProblems((id, major) => id === 'createRun' && major === 2, onlyV2)).toEqual([]);
  });
});

describe(
  covers(
    'versioning.advertisement.grammar',
    'versioning.advertisement.preferred-is-member',
    'versioning.advertisement.overlap-prefers-1x',
  ),
  () => {
    test.each([
      [{ versions: [], preferred: '1.1' }, /at least one/],
      [{ versions: ['1'], preferred: '1' }, /form/],
      [{ versions: ['01.1'], preferred: '01.1' }, /form/],
      [{ versions: ['1.1', '1.1'], preferred: '1.1' }, /repeat/],
      [{ versions: ['3.0'], preferred: '3.0' }, /major 3/],
      [{ versions: ['1.1'], preferred: '1.0' }, /preferred: "1\.0" is not in versions/],
      [{ versions: ['1.1', '2.0'], preferred: '2.0' }, /1\.x/],
      [{ versions: ['1.1'], preferred: '1.1', minClientVersion: 'x' }, /minClientVersion/],
    ])('rejects %j', (options, message) => expect(() => served(options)).toThrow(message));
  },
);

test(covers('versioning.response.shared-vary'), () => {
  const headers = new Headers({ vary: 'Accept-Encoding, accept' });
  mergeVary(headers, 'Accept', 'SVC-Version');
  expect(headers.get('vary')).toBe('Accept-Encoding, accept, SVC-Version');
});

describe('the path of a workspace file', () => {
  test.each([
    ['/v1/host/workspace/files', 'GET', 'listWorkspaceFiles', undefined],
    ['/v1/host/workspace/files/a', 'GET', 'readWorkspaceFile', 'a'],
    ['/v1/host/workspace/files/a/b.md', 'PUT', 'writeWorkspaceFile', 'a/b.md'],
    ['/v1/host/workspace/files/a%2Fb/c', 'DELETE', 'deleteWorkspaceFile', 'a%2Fb/c'],
  ])('accepts %s, whose slashes are plain or percent-encoded', (target, method, operationId, path) => {
    expect(negotiate({ method, target, headers: new Headers() }, both)).toMatchObject({
      kind: 'operation',
      operation: { operationId },
      params: path === undefined ? {} : { path },
    });
  });

  test.each([
    '/v1/host/workspace/files/',
    '/v1/host/workspace/files/a/',
    '/v1/host/workspace/files/a//b',
    '/v1/host/workspace/files/a/../b',
    '/v1/host/workspace/files/a/%2e%2e/b',
  ])('rejects %s', (target) => expect(outcome(target, undefined, { method: 'GET' })).toBe('400 validation_error'));
});

describe('a target without parameters', () => {
  const fixed = MANIFEST.filter(({ path }) => !path.includes('{')).flatMap(({ path }) => [path, `/v1${path}`]);

  test('is negotiated like the same target with a query, which no table has', () => {
    const anyRequest = fc.record({
      target: fc.constantFrom(...fixed),
      method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE'),
      version: fc.option(fc.constantFrom('1', '2', '1.1', '2.0', '2.9', '3', '01', 'x', ''), { nil: undefined }),
      client: fc.option(fc.constantFrom('1.2', '1.1', 'x'), { nil: undefined }),
      under: fc.constantFrom(both, onlyV2),
    });
    const property = fc.property(anyRequest, ({ target, method, version, client, under }) => {
      const headers = { 'svc-version': version, 'svc-client-version': client };
      const found = negotiate({ method, target, headers }, under);
      expect(found).toEqual(negotiate({ method, target: `${target}?`, headers }, under));
    });
    fc.assert(property, { numRuns: 500 });
  });
});

describe('the error of a refusal', () => {
  const refusedBy = (target: string, version: string, under = both) => {
    const found = negotiate({ method: 'GET', target, headers: { 'svc-version': version } }, under);
    if (found.kind !== 'refused') throw new Error(`${target} was not refused.`);
    return found.error;
  };

  test.each([
    ['/runs/r', '3'],
    ['/v1/runs/r', '2'],
    ['/runs/../r', '2'],
  ])('of %s under %s has no stack, and cannot be changed for the next request', (target, version) => {
    const error = refusedBy(target, version);
    expect(error.stack?.split('\n')).toHaveLength(1);
    for (const part of [error, error.details ?? error]) expect(Object.isFrozen(part)).toBe(true);
    expect(() => Object.assign(error, { message: 'another' })).toThrow(TypeError);
    expect(refusedBy(target, version)).toBe(error);
  });

  test('names the versions of the host that refuses', () => {
    expect(refusedBy('/runs/r', '3').details).toEqual({ protocolVersions: ['1.1', '2.0'] });
    expect(refusedBy('/runs/r', '3', onlyV2).details).toEqual({ protocolVersions: ['2.0', '2.3'] });
  });
});

test.each<[string, Record<string, string | readonly string[] | undefined>, string]>([
  ['any case', { 'SVC-Version': '2' }, 'operation 2'],
  ['a list', { 'svc-version': ['2'] }, 'operation 2'],
  ['an empty list', { 'svc-version': [] }, 'operation 1'],
  ['undefined', { 'svc-version': undefined }, 'operation 1'],
  ['two spellings', { 'SVC-Version': '2', 'svc-version': '2' }, 'refused 1'],
  ['a repeated value', { 'svc-version': ['2', '2'] }, 'refused 1'],
  ['a prototype, which is not read', Object.create({ 'svc-version': '2' }), 'operation 1'],
])('a plain record of headers with %s', (_name, headers, expected) => {
  const found = negotiate({ method: 'GET', target: '/runs/r', headers }, both);
  expect(`${found.kind} ${'major' in found ? found.major : ''}`).toBe(expected);
});
