import { describe, expect, test } from 'vitest';
import { bindId, isTenantId, isWorkspaceId, projectId, resolveId } from '../src/ids.ts';
import { negotiate, served } from '../src/index.ts';
import { namedPath, pathOfTarget } from '../src/path.ts';
import { compareVersions, majorOf, parseSelector, parseVersion } from '../src/version.ts';

const OVERLAP = served({ versions: ['1.1', '2.0'], preferred: '1.1' });
const ONE = served({ versions: ['1.1'], preferred: '1.1' });
const TWO = served({ versions: ['2.0'], preferred: '2.0' });

describe('ids', () => {
  const id = 'run_01m7xrhy09bvyvjx';
  const resolve = (segment: string, major: 1 | 2 = 2, overlap = true) => {
    const resolved = resolveId(segment, { tenant: 'acme', major, overlap });
    return resolved.ok ? resolved.id : resolved.error.code;
  };

  test.each([
    ['acme/eu', id],
    ['acme', `other/${id}`],
    ['/', id],
  ])('tenant %s and id %s are not bound: the border would move', (tenant, bare) => {
    expect(() => bindId(tenant, bare)).toThrow(TypeError);
  });

  test.each([
    ['a.b_c-d', 'a.b_c-d'],
    ['acme/run', 'acme~2Frun'],
    ['a~b', 'a~7Eb'],
    ['a b//c', 'a~20b~2F~2Fc'],
    ['\n', '~0A'],
    ['é', '~C3~A9'],
    ['\u{1f600}', '~F0~9F~98~80'],
  ])('%j is projected to %s', (bound, segment) => expect(projectId(bound)).toBe(segment));

  test.each<[string, string]>([
    [id, id],
    ['x', 'x'],
    ['x'.repeat(128), 'x'.repeat(128)],
    ['x'.repeat(129), 'validation_error'],
    ['', 'validation_error'],
    ['%C3%A9', 'é'],
    ...['%20x', 'x%20', 'x%00', 'x%0A', 'a%2Fb', 'a%3Fb', 'a%23b', 'a%5Cb', '%', '%FF'].map(
      (segment): [string, string] => [segment, 'validation_error'],
    ),
  ])('in major 1, %s is %s', (segment, expected) => expect(resolve(segment, 1)).toBe(expected));

  test.each([
    ['x'.repeat(16), 'x'.repeat(16)],
    ['x'.repeat(15), 'validation_error'],
    ['x'.repeat(128), 'x'.repeat(128)],
    ['x'.repeat(129), 'validation_error'],
    [`acme~2F${'x'.repeat(16)}`, 'x'.repeat(16)],
    [`acme~2F${'x'.repeat(15)}`, 'validation_error'],
    [`acme~2Frun_01m7xrhy09bvyvj~78`, id],
    [`~61cme~2F${id}`, id],
    [`acme~2F${id}~7`, 'validation_error'],
    [`acme~2F${id}~`, 'validation_error'],
    [`acme~2F${id}~FF`, 'validation_error'],
    // Cut to its low byte, U+012F would be the slash.
    [`acme%C4%AFrun_01m7xrhy09bvyvj~78`, 'validation_error'],
    // A byte order mark would be a second spelling.
    [`~EF~BB~BFacme~2F${id}`, 'validation_error'],
    [`acme~2F~EF~BB~BF${id}`, 'validation_error'],
    [`acme~2F${id}!`, 'validation_error'],
    [`acm~2F${id}`, 'id_tenant_mismatch'],
    [`acme2~2F${id}`, 'id_tenant_mismatch'],
    [`%21acme~2F${id}`, 'validation_error'],
    [`acme%21~2F${id}`, 'validation_error'],
  ])('in major 2, %s is %s', (segment, expected) => expect(resolve(segment)).toBe(expected));

  test.each([
    ['%FF', 2, true, 'is not percent-encoded UTF-8'],
    ['a/b', 1, true, 'is not an id of major 1'],
    [id, 2, false, 'must be the tenant-bound form, <tenant>/<id>'],
    ['short', 2, true, 'is not an id'],
    ['acme~2', 2, true, 'has a ~ that is not followed by two hexadecimal digits of a UTF-8 byte'],
    ['acme~2Fx', 2, true, 'is not a tenant-bound id, <tenant>/<id>'],
  ] as const)('the refusal of %s in major %d says so', (segment, major, overlap, problem) => {
    const resolved = resolveId(segment, { tenant: 'acme', major, overlap });
    expect(resolved).toMatchObject({
      ok: false,
      error: { code: 'validation_error', details: { fields: [{ field: 'path', problem }] } },
    });
  });

  const VALID = ['a', 'a.b_c-d~e', 'a'.repeat(128)];
  const INVALID = ['', ' a', 'a ', 'a/b', 'a\n', 'é', 'a'.repeat(129), 'other:a'];
  test.each([
    ...[...VALID, 'anon:a', `anon:${'a'.repeat(128)}`].map((text) => [text, true] as const),
    ...[...INVALID, 'anon:', 'xanon:a', 'anon:a ', 'anon:a/b', 'anon:anon:a'].map((text) => [text, false] as const),
  ])('%s is the id of a tenant: %s', (text, expected) => expect(isTenantId(text)).toBe(expected));

  test.each([
    ...VALID.map((text) => [text, true] as const),
    ...[...INVALID, 'anon:a'].map((text) => [text, false] as const),
  ])('%s is the id of a workspace: %s', (text, expected) => expect(isWorkspaceId(text)).toBe(expected));
});

describe('versions', () => {
  test.each<[string, string | undefined]>([
    ['1', '1'],
    ['10', '10'],
    ['1.10', '1'],
    ['0.0', '0'],
    ['12.0', '12'],
    ...['', '01', '1.', '.1', '1.01', '1.1.1', ' 1', '1 ', 'v1', '1.x', '1x', '-1', '1,2'].map(
      (text): [string, undefined] => [text, undefined],
    ),
  ])('the selector %j names the major %s', (text, major) => expect(parseSelector(text)).toBe(major));

  test.each<[string, { major: string; minor: string } | undefined]>([
    ['1.1', { major: '1', minor: '1' }],
    ['0.0', { major: '0', minor: '0' }],
    ['10.20', { major: '10', minor: '20' }],
    ...['', '1', '01.1', '1.01', '1.', '.1', '1.1.1', ' 1.1', '1.1 ', 'v1.1', '1.1x'].map(
      (text): [string, undefined] => [text, undefined],
    ),
  ])('the version %j is read as %j', (text, version) => expect(parseVersion(text)).toEqual(version));

  test('majors are 1 and 2', () => {
    expect(['1', '2', '0', '3', '11', undefined].map(majorOf)).toEqual([
      1,
      2,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  const of = (text: string) => parseVersion(text) ?? expect.unreachable(text);
  test.each([
    ['1.1', '1.1', 0],
    ['1.1', '1.2', -1],
    ['1.2', '1.1', 1],
    ['1.9', '1.10', -1],
    ['1.10', '1.9', 1],
    ['2.0', '1.9', 1],
    ['9.0', '10.0', -1],
  ])('%s compared with %s: %d', (a, b, sign) => expect(Math.sign(compareVersions(of(a), of(b)))).toBe(sign));
});

describe('the served versions', () => {
  test.each([
    ['both majors', OVERLAP, { overlap: true, phase: 'overlap', preferredMajor: 1 }],
    ['major 1', ONE, { overlap: false, phase: 'before-overlap', preferredMajor: 1 }],
    ['major 2', TWO, { overlap: false, phase: 'after-overlap', preferredMajor: 2 }],
  ])('of a host with %s', (_name, host, expected) => expect(host).toMatchObject(expected));

  test.each([[['1.9', '1.10', '1.2']], [['1.10', '1.9', '1.2']], [['1.2', '1.9', '1.10']]])(
    '%j has the contract of the highest',
    (versions) => {
      const host = served({ versions: [...versions, '2.0'], preferred: '1.2' });
      expect([host.contractOf(1), host.contractOf(2)]).toEqual(['1.10', '2.0']);
    },
  );

  test('the contract of a major that is not served is the preferred version', () => {
    expect([ONE.contractOf(2), TWO.contractOf(1)]).toEqual(['1.1', '2.0']);
  });

  test.each<[Parameters<typeof served>[0], RegExp]>([
    [{ versions: [], preferred: '1.1' }, /^versions: is empty\..* preferred: "1\.1" is not in versions\.[^.]*\.$/],
    [{ versions: ['1.1', '1.1'], preferred: '1.1' }, /^versions: repeats a version\.[^.]*\.$/],
    [{ versions: ['1.1'], preferred: '1.2' }, /^preferred: "1\.2" is not in versions\.[^.]*\.$/],
    [{ versions: ['1.1', '1'], preferred: '1.1' }, /^versions: "1" is not of the form <major>\.<minor>\./],
    [{ versions: ['1.1', '3.0'], preferred: '1.1' }, /^versions: "3\.0" is of major 3\./],
    [{ versions: ['1.1'], preferred: '1.1', minClientVersion: '1' }, /^minClientVersion: "1" is not of the form/],
    [{ versions: ['1.1', '2.0'], preferred: '2.0' }, /^preferred: must be a 1\.x version while versions lists one\./],
  ])('%j are refused', (options, problem) => expect(() => served(options)).toThrow(problem));

  test('the lowest client version is stored', () => {
    expect(served({ versions: ['1.1'], preferred: '1.1', minClientVersion: '1.4' }).minClientVersion).toBe('1.4');
  });
});

describe('paths', () => {
  test.each(
    [
      ['/', '/'],
      ['/runs?x=/./', '/runs'],
      ['/runs?', '/runs'],
      ['/runs/', '/runs/'],
      ['/a/%2F%aB', '/a/%2F%aB'],
      ["/a-._~!$&'()*+,;=:@", "/a-._~!$&'()*+,;=:@"],
      ['/a/...', '/a/...'],
      ['/.a/a.', '/.a/a.'],
      ...['', 'runs', '*', '//', '/a//b', '//a', '/a//', '/%4', '/%4g', '/%', '/a b', '/a{', '/a"', '/a\\b', '/é'],
      ...[
        '/.',
        '/..',
        '/a/.',
        '/a/..',
        '/a/./b',
        '/a/../b',
        '/%2e',
        '/a/%2E%2e/b',
        '/a/.%2e',
        '/a#b',
        '/a?b#c',
        '/a? ',
      ],
      ...['/a?\u007f', '/a?é', 'http://a/b'],
    ].map((row): [string, string | undefined] => (typeof row === 'string' ? [row, undefined] : [row[0] ?? '', row[1]])),
  )('the path of the target %j is %j', (target, path) => {
    expect(pathOfTarget(target)).toBe(path);
  });

  const named = (text: string, start?: number) => {
    const found = namedPath(text, start);
    return found && [found.operations.map(({ operationId }) => operationId).sort(), found.params];
  };

  test.each([
    ['/runs/x', ['readRun'], { runId: 'x' }],
    ['/runs/run_1:fork', ['forkRun'], { runId: 'run_1' }],
    ['/runs/a:b:fork', ['forkRun'], { runId: 'a:b' }],
    ['/runs/a:B', ['readRun'], { runId: 'a:B' }],
    ['/runs/a:9', ['readRun'], { runId: 'a:9' }],
    ['/runs:bulk-cancel', ['bulkCancelRuns'], {}],
    ['/runs/x:fork/events', ['streamEvents'], { runId: 'x:fork' }],
    ['/runs/x/artifacts/y', ['readArtifact'], { runId: 'x', artifactId: 'y' }],
    // No operation has a verb behind these parameters, so a verb belongs to the value.
    ['/workflows/x:fork', ['readWorkflow'], { workflowId: 'x:fork' }],
    ['/webhooks/x:y', ['unregisterWebhook'], { webhookId: 'x:y' }],
    ['/workflows/x:', ['readWorkflow'], { workflowId: 'x:' }],
    ['/runs/x:/events', ['streamEvents'], { runId: 'x:' }],
    [
      '/host/workspace/files/a/b.txt',
      ['deleteWorkspaceFile', 'readWorkspaceFile', 'writeWorkspaceFile'],
      { path: 'a/b.txt' },
    ],
    ['/host/workspace/files', ['listWorkspaceFiles'], {}],
  ])('%s names %j with %j', (path, operations, params) => {
    expect(named(path)).toEqual([operations, params]);
    expect(named(`/v1${path}`, 3)).toEqual([operations, params]);
  });

  test.each([
    ...['/', '/runs/', '/runs/x/', '/runs/x/none', '/runs/:fork', '/runs/x:delete', '/runs/x:', '/runs/x:a-b'],
    ...[
      '/host/workspace/files/',
      '/host/workspace/files/a/',
      '/host',
      '/workflows',
      '/runs/x/artifacts',
      '/interrupts/',
    ],
  ])('%s names no operation', (path) => expect(named(path)).toBeUndefined());
});

describe('negotiation', () => {
  const ask = (target: string, version?: string, method = 'GET', host = OVERLAP) =>
    negotiate({ method, target, headers: version === undefined ? {} : { 'svc-version': version } }, host);

  test.each([
    ['/v1', '2', 'refused'],
    ['/v1/none', '2', 'refused'],
    ['/v1/none', '1', 'foreign'],
    ['/v1/none', undefined, 'foreign'],
    ['/v1x', '2', 'foreign'],
    ['/v1/runs/x', '1.1', 'refused'],
    ['/v1/.well-known/svc', undefined, 'foreign'],
    ['/.well-known/svc', undefined, 'operation'],
  ])('%s with the version %s is %s', (target, version, kind) => expect(ask(target, version).kind).toBe(kind));

  test('the major of a malformed target is that of the header, where it is served', () => {
    const majorFor = (version?: string, host = OVERLAP) => {
      const found = ask('/runs//x', version, 'GET', host);
      return found.kind === 'refused' && [found.major, found.contract, found.error.code];
    };
    expect(majorFor()).toEqual([1, '1.1', 'validation_error']);
    expect(majorFor('2')).toEqual([2, '2.0', 'validation_error']);
    expect(majorFor('9')).toEqual([1, '1.1', 'validation_error']);
    expect(majorFor('1', TWO)).toEqual([2, '2.0', 'validation_error']);
    expect(majorFor('2', ONE)).toEqual([1, '1.1', 'validation_error']);
  });

  test('a path with a trailing slash is malformed in its major, and foreign when it names nothing', () => {
    expect(ask('/runs/x/', '2')).toMatchObject({ kind: 'refused', major: 2, error: { code: 'validation_error' } });
    expect(ask('/v1/runs/x/')).toMatchObject({ kind: 'refused', major: 1, error: { code: 'validation_error' } });
    expect([ask('/none/').kind, ask('/v1/none/').kind, ask('/runs/none/none/').kind]).toEqual(Array(3).fill('foreign'));
  });

  test('paths under /v1 are foreign to a host without major 1', () => {
    expect(ask('/v1/runs/x', '2', 'GET', TWO).kind).toBe('foreign');
  });

  test.each([
    ['POST', '/v1/runs/x', undefined, { major: 1, allow: ['GET', 'HEAD'] }],
    ['PUT', '/runs', '2', { major: 2, allow: ['POST', 'GET', 'HEAD'] }],
    ['GET', '/v1/runs', undefined, { major: 1, allow: ['POST'], elsewhere: { operationId: 'listRuns' } }],
    ['DELETE', '/v1/runs', undefined, { major: 1, allow: ['POST'] }],
  ])('%s %s with the version %s has the methods of its major', (method, target, version, expected) => {
    const found = ask(target, version, method);
    expect(found).toMatchObject({ kind: 'method-not-allowed', ...expected });
    expect('elsewhere' in found).toBe('elsewhere' in expected);
  });

  test('a path of the other major alone is absent, with the operation of that major', () => {
    expect(ask('/v1/runs/x/effects')).toMatchObject({
      kind: 'absent',
      major: 1,
      operation: { operationId: 'readEffects' },
    });
    expect(ask('/v1/runs/x/effects', undefined, 'POST')).toMatchObject({
      kind: 'absent',
      operation: { method: 'GET' },
    });
    expect(ask('/host/workspace/files', '2')).toMatchObject({ kind: 'absent', major: 2 });
  });

  test('HEAD asks for the operation of GET', () => {
    expect(ask('/v1/runs/x', undefined, 'HEAD')).toMatchObject({
      kind: 'operation',
      operation: { operationId: 'readRun' },
    });
    expect(ask('/v1/webhooks', undefined, 'HEAD')).toMatchObject({ kind: 'method-not-allowed', allow: ['POST'] });
  });

  test('a version that is not served is refused with the served ones', () => {
    for (const version of ['3', '1.x', '', '0']) {
      expect(ask('/runs/x', version)).toMatchObject({
        kind: 'refused',
        major: 1,
        contract: '1.1',
        error: { code: 'protocol_version_unsupported', details: { protocolVersions: ['1.1', '2.0'] } },
      });
    }
    expect(ask('/runs/x', '2', 'GET', ONE).kind).toBe('refused');
    expect(ask('/v1/runs/x', '2')).toMatchObject({ error: { code: 'protocol_version_mismatch', details: undefined } });
  });

  test('a refusal of the target names the field', () => {
    expect(ask('/runs//x')).toMatchObject({ error: { details: { fields: [{ field: 'target' }] } } });
  });

  test('a client below the lowest version is refused on each path of the protocol', () => {
    const host = served({ versions: ['1.1', '2.0'], preferred: '1.1', minClientVersion: '1.4' });
    const of = (client: string, target: string) =>
      negotiate({ method: 'GET', target, headers: { 'svc-client-version': client } }, host);
    expect(of('1.3', '/v1/runs/x')).toMatchObject({
      kind: 'refused',
      major: 1,
      contract: '1.1',
      error: { status: 426 },
    });
    expect([of('1.4', '/v1/runs/x').kind, of('1.3', '/none').kind]).toEqual(['operation', 'foreign']);
  });
});
