import { randomUUID } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AcmeHost, type CallOptions, DEV_FILES, FILES, KEY, startAcme } from './acme-host.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({});
});
afterEach(() => host.clear());
afterAll(() => host.stop());

/** Files that no earlier test wrote. */
let a: string;
let b: string;
let tests = 0;
beforeEach(() => {
  tests += 1;
  [a, b] = [`/a${tests}`, `/b${tests}`];
});

const call = (path: string, options: CallOptions = {}) =>
  host.call(`/v1/host/workspace/files${path}`, { key: FILES, ...options });
const put = (path: string, content: string, options: CallOptions = {}) =>
  call(path, { method: 'PUT', body: { content }, ...options });

describe(covers('operations.files.operations'), () => {
  test('a file is written, read in either form of its path, listed and deleted', async () => {
    const written = await put('/notes/today.md', '# Today\u0000é');
    expect(written).toMatchObject({
      status: 200,
      body: { path: 'notes/today.md', version: 1, content: '# Today\u0000é', contentType: 'text/markdown' },
    });
    expect(written.headers.get('etag')).toBe(`"${written.body.etag}"`);
    for (const path of ['/notes/today.md', '/notes%2Ftoday.md', '/notes%2ftoday%2Emd']) {
      expect((await call(path)).body).toEqual(written.body);
    }
    await put('/other.txt', 'x', { body: { content: 'x', contentType: 'text/plain' } });
    const { content: _, ...head } = written.body;
    expect((await call('?prefix=notes/')).body).toEqual({ files: [head] });
    expect((await call('')).body.files.map(({ path }: { path: string }) => path)).toEqual([
      'notes/today.md',
      'other.txt',
    ]);
    expect((await call('/notes/today.md', { method: 'DELETE' })).status).toBe(204);
    expect(await call('/notes/today.md')).toMatchObject({ status: 404, body: { error: 'not_found' } });
    expect((await call('/notes/today.md', { method: 'DELETE' })).status).toBe(404);
  });

  test('a file that begins with U+FEFF is read as it was written', async () => {
    const content = '\ufeffname;value';
    expect((await put(a, content)).body.content).toBe(content);
    expect((await call(a)).body.content).toBe(content);
  });

  test('every write makes a version, and the last versions stay readable', async () => {
    for (let version = 1; version <= 11; version++) await put(a, `content ${version}`);
    expect((await call(`${a}?version=11`)).body.content).toBe('content 11');
    expect((await call(`${a}?version=2`)).body).toMatchObject({ version: 2, content: 'content 2' });
    for (const version of ['1', '12']) expect((await call(`${a}?version=${version}`)).status).toBe(404);
    for (const version of ['0', 'x', '1&version=2']) expect((await call(`${a}?version=${version}`)).status).toBe(400);
    await call(a, { method: 'DELETE' });
    expect((await call(`${a}?version=11`)).body.content).toBe('content 11');
    expect((await put(a, 'again')).body.version).toBe(13);
  });

  test('a conditional read of the current version is answered 304', async () => {
    const { etag } = (await put(a, 'x')).body;
    const again = await call(a, { headers: { 'if-none-match': `"${etag}"` } });
    expect([again.status, again.body]).toEqual([304, undefined]);
  });

  test.each(['-a', '.hidden', 'a%20b', 'a..b', 'a%2F..%2Fb', 'a%00', 'é', `a${'b'.repeat(256)}`])(
    'the path %s is refused',
    async (path) => {
      expect(await put(`/${path}`, 'x')).toMatchObject({ status: 400, body: { error: 'validation_error' } });
    },
  );

  test('a body has content and a media type, and no other field', async () => {
    const bodies = [
      {},
      { content: 1 },
      { content: 'x', more: 1 },
      { content: '\ud800' },
      { content: '', contentType: 'x' },
    ];
    for (const body of bodies) expect((await put(a, '', { body })).status).toBe(400);
    expect((await put(a, '')).status).toBe(200);
    expect((await call('?prefix=%00')).status).toBe(400);
  });
});

describe(covers('operations.files.conflict'), () => {
  test('a write on an older version is refused', async () => {
    const first = (await put(a, 'one')).body.etag;
    const match = (etag: string) => ({ headers: { 'if-match': etag } });
    expect((await put(a, 'two', match(first))).body.version).toBe(2);
    const conflict = { status: 409, body: { error: 'workspace_conflict', details: { currentVersion: 2 } } };
    expect(await put(a, 'three', match(first))).toMatchObject(conflict);
    expect(await call(a, { method: 'DELETE', ...match(first) })).toMatchObject(conflict);
    expect((await put(a, 'three', match(`"other", "${(await call(a)).body.etag}"`))).body.version).toBe(3);
    expect((await put(a, 'four', match('*'))).status).toBe(200);
    const absent = { status: 409, body: { details: { currentVersion: 0 } } };
    expect(await put(b, 'x', match(first))).toMatchObject(absent);
    expect(await put(b, 'x', match('*'))).toMatchObject(absent);
    expect((await put(a, 'x', { headers: { 'if-none-match': '*' } })).status).toBe(409);
    expect((await put(b, 'x', { headers: { 'if-none-match': '*' } })).status).toBe(200);
  });

  test('of many writes on the same version one succeeds', async () => {
    const { etag } = (await put(a, 'x')).body;
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => put(a, `${index}`, { headers: { 'if-match': etag } })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
  });

  test('a repeated write with the same key writes once', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await put(a, 'x', { headers });
    expect((await put(a, 'x', { headers })).body).toEqual(first.body);
    expect((await call(a)).body.version).toBe(1);
  });
});

test(covers('limits.files.max-bytes'), async () => {
  expect((await put(a, 'é'.repeat(32_768))).status).toBe(200);
  expect(await put(a, `${'é'.repeat(32_768)}x`)).toMatchObject({
    status: 413,
    body: { error: 'workspace_too_large', details: { maxBytes: 65_536, providedBytes: 65_537 } },
  });
  const discovery = await host.call('/.well-known/svc');
  expect(discovery.body.workspace).toEqual({
    supported: true,
    versioned: true,
    maxFileBytes: 65_536,
    maxFiles: 256,
    maxVersions: 10,
  });
});

test(`${covers('operations.files.place')} the credential alone chooses the workspace`, async () => {
  await put(a, 'of acme-prod');
  expect((await call(a, { key: DEV_FILES })).status).toBe(404);
  expect((await call('', { key: DEV_FILES })).body).toEqual({ files: [] });
  expect((await put(a, 'of acme-dev', { key: DEV_FILES })).body.version).toBe(1);
  expect((await call(a)).body.content).toBe('of acme-prod');
  expect(await call(a, { key: KEY })).toMatchObject({ status: 403, body: { scopeRequired: 'workspace:read' } });
  expect(await put(a, 'x', { key: KEY })).toMatchObject({ status: 403, body: { scopeRequired: 'workspace:write' } });
});

test(covers('operations.files.gated'), async () => {
  expect((await host.call('/host/workspace/files', { key: FILES, major: '2' })).status).toBe(404);
  await host.reboot({}, { workspaceFiles: { enabled: false } });
  for (const path of ['', '/a/b']) {
    expect(await call(path)).toMatchObject({ status: 501, body: { error: 'capability_not_provided' } });
  }
  expect((await host.call('/.well-known/svc')).body.workspace).toBeUndefined();
});
