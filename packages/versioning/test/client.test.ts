import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import {
  assertNoDowngrade,
  DowngradeError,
  defaultVersion,
  selectMajor,
  UnexpectedPageError,
  versionedFetch,
} from '../src/client.ts';

describe(covers('versioning.client.highest-common'), () => {
  test.each([
    [{ protocolVersions: ['1.1', '2.0'] }, [1, 2], 2],
    [{ protocolVersions: ['1.1', '2.0'] }, [1], 1],
    [{ protocolVersions: ['1.1'] }, [1, 2], 1],
    [{ protocolVersions: ['2.0'] }, [1], undefined],
    [{ protocolVersions: ['3.0'] }, [1, 2], undefined],
    [{ protocolVersion: '1.1' }, [1, 2], 1],
    [{ protocolVersion: '2.0', protocolVersions: ['1.1'] }, [1, 2], 1],
    [{ protocolVersions: 'x', protocolVersion: '01.1' }, [1, 2], undefined],
    [{ protocolVersions: [2, null, '2.x'] }, [1, 2], undefined],
    [{}, [1, 2], undefined],
  ] as const)('selects from %j with the majors %j: %s', (document, implemented, major) => {
    expect(selectMajor(document, implemented)).toBe(major);
  });
});

test.each([null, undefined, 'a page', 2, ['2.0']])('refuses %o, which is no discovery document', (document) => {
  expect(() => selectMajor(document, [1, 2])).toThrow(
    'selectMajor: document must be a discovery document. Pass the JSON of /.well-known/svc.',
  );
  expect(() => defaultVersion(document)).toThrow('defaultVersion: document must be a discovery document.');
});

describe(covers('versioning.advertisement.client-default'), () => {
  test.each([
    [{ preferredVersion: '1.1', protocolVersions: ['1.1', '2.0'] }, '1.1'],
    [{ protocolVersions: ['1.1', '2.0', '1.10'] }, '2.0'],
    [{ protocolVersions: ['1.9', '1.10'] }, '1.10'],
    [{ protocolVersion: '1.1' }, '1.1'],
    [{ preferredVersion: 'latest', protocolVersions: [], protocolVersion: '1.0' }, '1.0'],
    [{ preferredVersion: '02.0' }, undefined],
    [{}, undefined],
  ])('finds in %j the default %s', (document, version) => {
    expect(defaultVersion(document)).toBe(version);
  });
});

describe(covers('versioning.response.downgrade-detected'), () => {
  const response = (version?: string) => ({
    headers: new Headers(version === undefined ? {} : { 'SVC-Version': version }),
  });

  test.each([
    [1, '1.1'],
    [1, '1.999'],
    [1, undefined],
    [2, '2.0'],
  ] as const)('major %s accepts %s', (major, version) => {
    expect(() => assertNoDowngrade(response(version), major)).not.toThrow();
  });

  test.each([
    [2, '1.1'],
    [2, undefined],
    [1, '2.0'],
    [2, '2'],
    [2, '02.0'],
    [2, '2.0, 1.1'],
    [2, 'x'.repeat(1000)],
  ] as const)('major %s rejects %s', (major, version) => {
    expect(() => assertNoDowngrade(response(version), major)).toThrow(DowngradeError);
    try {
      assertNoDowngrade(response(version), major);
    } catch (error) {
      expect((error as Error).message.length).toBeLessThan(200);
    }
  });

  const answering = (init: ResponseInit, seen: Headers[] = []) =>
    versionedFetch({
      major: 2,
      clientVersion: '1.4.0',
      fetch: async (request) => {
        seen.push(request.headers);
        return new Response('{}', init);
      },
    });

  test('versionedFetch sends its major and its client version', async () => {
    const seen: Headers[] = [];
    const json = { 'content-type': 'application/json', 'SVC-Version': '2.0' };
    await answering({ headers: json }, seen)('https://svc.example/runs', {
      headers: { 'SVC-Version': '1', 'x-a': 'b' },
    });
    expect([...(seen[0] ?? [])]).toEqual([
      ['svc-client-version', '1.4.0'],
      ['svc-version', '2'],
      ['x-a', 'b'],
    ]);
  });

  test.each([
    ['JSON of another major', { headers: { 'content-type': 'application/json', 'SVC-Version': '1.1' } }],
    ['JSON without a version', { headers: { 'content-type': 'application/json; charset=utf-8' } }],
    ['a problem document without a version', { status: 400, headers: { 'content-type': 'application/problem+json' } }],
    ['events without a version', { headers: { 'content-type': 'text/event-stream' } }],
    ['a page of another major', { headers: { 'content-type': 'text/html', 'SVC-Version': '1.1' } }],
  ])('versionedFetch rejects %s', async (_title, init) => {
    await expect(answering(init)('https://svc.example/')).rejects.toThrow(DowngradeError);
  });

  test.each([
    ['text/html', 200],
    ['TEXT/HTML; charset=utf-8', 201],
    ['application/xhtml+xml', 203],
  ])('versionedFetch rejects a page of %s with %i, and does not read it', async (type, status) => {
    const read: string[] = [];
    const body = new ReadableStream({ cancel: () => void read.push('cancelled') }, { highWaterMark: 0 });
    const svc = versionedFetch({
      major: 1,
      fetch: async () => new Response(body, { status, headers: { 'content-type': type } }),
    });
    const error = await svc('https://svc.example/v1/runs').catch((one: unknown) => one);
    expect(error).toBeInstanceOf(UnexpectedPageError);
    expect(error).toMatchObject({ name: 'UnexpectedPageError', status, redirected: false });
    expect(read).toEqual(['cancelled']);
  });

  test('versionedFetch passes a page that the host itself serves', async () => {
    const headers = { 'content-type': 'text/html', 'SVC-Version': '2.0' };
    expect((await answering({ headers })('https://svc.example/runs/x/artifacts/y')).status).toBe(200);
  });

  test('versionedFetch passes the error page of a proxy', async () => {
    const page = await answering({ status: 502, headers: { 'content-type': 'text/html' } })('https://svc.example/');
    expect(page.status).toBe(502);
  });

  test.each(['', '1', '1.x', 'v1.0', '1.0.0.0', '01.0'])(
    'versionedFetch rejects the client version %j',
    (clientVersion) => {
      expect(() => versionedFetch({ major: 1, clientVersion })).toThrow(TypeError);
    },
  );
});
