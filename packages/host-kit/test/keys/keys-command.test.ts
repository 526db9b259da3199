import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { temporaryTree } from '@svc/tools/temporary-tree';
import { expect, test } from 'vitest';
import { svcKeys } from '../../src/keys-cli/command.ts';

const NOTICE = 'reaches all workspaces of its tenant';

/** Makes a key in a new database, and returns the output. */
async function create(...args: readonly string[]) {
  const stdout = new PassThrough({ encoding: 'utf8' });
  const stderr = new PassThrough({ encoding: 'utf8' });
  const fetch = () => Promise.reject(new Error('A store needs no network.'));
  const store = `sqlite:${join(temporaryTree(), 'keys.db')}`;
  const of = ['--store', store, '--tenant', 'acme', '--principal', 'p_1', '--name', 'First', '--scopes', 'runs:read'];
  const code = await svcKeys(['create', ...of, ...args], { stdout, stderr, fetch, environment: {} });
  return { code, out: String(stdout.read()), told: String(stderr.read()) };
}

test('svc-keys create says that a key reaches all workspaces when none was named', async () => {
  const { code, out, told } = await create();
  expect([code, told.split(NOTICE).length]).toEqual([0, 2]);
  expect(out).toMatch(/^svc_live_[0-9a-f]+\n$/);
});

test('svc-keys create says it beside JSON, too', async () => {
  const { out, told } = await create('--json');
  expect(JSON.parse(out).apiKey.workspaces).toEqual(['*']);
  expect(told).toContain(NOTICE);
});

test.each(['main', '*'])('svc-keys create --workspaces %s has no such notice', async (workspaces) => {
  const { out, told } = await create('--workspaces', workspaces, '--json');
  expect(JSON.parse(out).apiKey.workspaces).toEqual([workspaces]);
  expect(told).not.toContain(NOTICE);
});

test('svc-keys create asks for the scope that was meant', async () => {
  const { code, told } = await create('--scopes', 'run:read,webhook:*,runs:*,reports:read', '--workspaces', 'main');
  expect(code).toBe(0);
  expect(told).toContain('svc-keys: run:read: is no scope. Did you mean runs:read?');
  expect(told).toContain('svc-keys: webhook:*: covers no scope. Did you mean webhooks:*?');
  expect(told).not.toMatch(/(?:runs:\*|reports:read): /);
});

test('svc-keys create takes a time of expiry with its offset alone', async () => {
  const { code, told } = await create('--expires', '2099-01-01T00:00');
  expect([code === 0, told]).toEqual([false, expect.stringContaining('--expires: must be a time such as')]);
  for (const time of ['2099-01-01T02:00:00+02:00', '2099-01-01T00:00:00Z']) {
    const { out } = await create('--expires', time, '--json');
    expect(JSON.parse(out).apiKey.expiresAt).toBe('2099-01-01T00:00:00.000Z');
  }
});
