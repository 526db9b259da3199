import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hashApiKey } from '@svc/auth/api-key';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningHost, scratch } from './booted-host.ts';
import { bootInProcess } from './host-in-process.ts';

const ADMIN = 'operator_brought_key_that_manages_the_keys_';
const COMMAND = fileURLToPath(new URL('../../../packages/host-kit/dist/keys-cli/main.js', import.meta.url));
const folder = scratch();
const config = {
  listen: { port: 0 },
  store: `sqlite:${folder.path('svc.db')}`,
  tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
  apiKeys: [
    {
      id: 'admin',
      key: ADMIN,
      tenant: 'acme',
      workspaces: ['acme-prod'],
      principal: 'p_admin',
      scopes: ['keys:manage', 'runs:read'],
    },
  ],
};
let host: RunningHost;
beforeAll(async () => {
  host = await bootInProcess(folder.path('config.json'), config);
});
afterAll(async () => {
  await host.end();
  folder.remove();
});

function svcKeys(args: readonly string[], environment: object = {}) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const env = { ...process.env, ...environment };
    execFile(process.execPath, [COMMAND, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

async function isAccepted(key: string): Promise<boolean> {
  const { status } = await fetch(`${host.url}/v1/runs/absent`, { headers: { authorization: `Bearer ${key.trim()}` } });
  return status === 404;
}

describe('svc-keys', () => {
  test('makes, lists, rotates and revokes keys of a running host', async () => {
    const running = { SVC_KEYS_URL: host.url, SVC_KEYS_KEY: ADMIN };
    const made = await svcKeys(['create', '--name', 'Nightly', '--scopes', 'runs:read'], running);
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^svc_live_[0-9a-f]{72}\n$/)]);
    expect(made.stderr).not.toContain(made.stdout.trim());
    expect(await isAccepted(made.stdout)).toBe(true);

    const listed = await svcKeys(['list', '--json', '--state', 'active'], running);
    const keys = listed.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { id } = keys.find(({ name }) => name === 'Nightly');

    const out = folder.path('rotated.key');
    const rotated = await svcKeys(['rotate', id, '--grace', '0', '--out', out, '--json'], running);
    const next = readFileSync(out, 'utf8');
    expect([rotated.code, statSync(out).mode & 0o777]).toEqual([0, 0o600]);
    expect(rotated.stdout).not.toContain(next.trim());
    expect([await isAccepted(made.stdout), await isAccepted(next)]).toEqual([false, true]);
    // A file with a key is never overwritten.
    expect((await svcKeys(['rotate', id, '--out', out], running)).code).toBe(2);
    expect(readFileSync(out, 'utf8')).toBe(next);

    const replacement = JSON.parse(rotated.stdout).apiKey.id;
    expect((await svcKeys(['revoke', replacement], running)).code).toBe(0);
    expect(await isAccepted(next)).toBe(false);
  });

  test.each<[string, string[], object, number, string]>([
    ['an unknown command', ['mint'], {}, 2, 'the command is not known'],
    ['an unknown option', ['list', '--colour'], {}, 2, '--colour'],
    ['no target', ['list'], {}, 2, 'Pass --url'],
    ['no key', ['list', '--url', 'http://127.0.0.1:9'], {}, 2, 'SVC_KEYS_KEY'],
    ['a key with a line break', ['list', '--url', 'http://127.0.0.1:9'], { SVC_KEYS_KEY: 'a\nb' }, 2, 'characters'],
    ['no scopes', ['create', '--name', 'x'], {}, 2, '--scopes'],
    ['a malformed rate', ['create', '--name', 'x', '--scopes', 'a', '--rate-limit', '9'], {}, 2, '--rate-limit'],
    [
      'a host that does not answer',
      ['list', '--url', 'http://127.0.0.1:9'],
      { SVC_KEYS_KEY: ADMIN },
      3,
      'does not answer',
    ],
    [
      'a database that is not there',
      ['list', '--store', 'sqlite:/nowhere/x.db', '--tenant', 'acme'],
      {},
      3,
      'does not exist',
    ],
    [
      'a database without a server',
      ['list', '--tenant', 'acme'],
      { SVC_KEYS_STORE: 'postgres://svc:hidden@127.0.0.1:9/x' },
      3,
      'cannot be opened',
    ],
  ])('%s', async (_, args, environment, code, reason) => {
    const failed = await svcKeys(args, environment);
    expect([failed.code, failed.stdout]).toEqual([code, '']);
    expect(failed.stderr).toContain(reason);
    expect(failed.stderr).not.toContain('hidden');
  });

  test('a refusal of the host is told, and leaves no file', async () => {
    const running = { SVC_KEYS_URL: host.url, SVC_KEYS_KEY: ADMIN };
    const out = folder.path('refused.key');
    const refused = await svcKeys(['create', '--name', 'x', '--scopes', 'audit:read', '--out', out], running);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('answered 403: scopes: must be')]);
    expect(() => statSync(out)).toThrow();
    expect((await svcKeys(['revoke', 'absent'], running)).code).toBe(1);
  });

  test('works on the store of a host that is down, and refuses one that is up', async () => {
    const store = ['--store', config.store, '--tenant', 'acme'];
    const busy = await svcKeys(['list', ...store]);
    expect([busy.code, busy.stderr]).toEqual([3, expect.stringContaining('pass --url')]);

    await host.end();
    const foreign = randomBytes(24).toString('base64url');
    const records = [{ id: 'old-1', hash: hashApiKey(foreign), principal: 'p_old', scopes: ['runs:read'] }];
    writeFileSync(folder.path('old.json'), JSON.stringify(records));
    writeFileSync(folder.path('plain.json'), JSON.stringify([{ ...records[0], key: foreign }]));
    expect((await svcKeys(['import', folder.path('plain.json'), ...store])).code).toBe(2);
    expect((await svcKeys(['import', folder.path('old.json'), ...store])).stdout).toBe('1 keys imported\n');
    expect((await svcKeys(['import', folder.path('old.json'), ...store])).stdout).toBe('0 keys imported\n');
    const first = ['create', '--name', 'First', '--scopes', 'keys:manage,runs:*'];
    expect((await svcKeys([...first, ...store])).code).toBe(2);
    const made = await svcKeys([...first, ...store, '--principal', 'p_first']);
    expect(made.code).toBe(0);
    expect((await svcKeys(['revoke', 'admin', ...store])).code).toBe(0);

    host = await bootInProcess(folder.path('config.json'), config);
    expect([await isAccepted(foreign), await isAccepted(made.stdout), await isAccepted(ADMIN)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
