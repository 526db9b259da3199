import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const KEY = 'operator-key-of-this-test-0123456789';
let folder: string;
let config: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-host-explain-'));
  config = join(folder, 'host.json');
  const key = { key: KEY, id: 'key_1', tenant: 'acme', workspaces: ['*'], principal: 'p_1', scopes: ['runs:read'] };
  const host = {
    org: 'acme',
    store: `sqlite:${join(folder, 'svc.db')}`,
    tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
    apiKeys: [{ ...key, mode: 'live' }],
  };
  writeFileSync(config, JSON.stringify(host));
});
afterAll(() => rmSync(folder, { recursive: true }));

function explain(capture: string, ...args: string[]) {
  const options = { input: capture, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, 'explain', ...args], options);
  return { status, stdout, stderr };
}

const bearing = (key: string) =>
  `> GET /v1/runs/run_1 HTTP/1.1\n> Host: 127.0.0.1\n> Authorization: Bearer ${key}\n> \n`;

describe('svc-host explain', () => {
  test('accepts a request that the host accepts, and tells its grants', () => {
    const { status, stdout, stderr } = explain(bearing(KEY), '--config', config, '--scope', 'runs:read');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('Principal p_1, tenant acme (live), all workspaces, scopes runs:read.');
  });

  test('explains a refusal without the key, and makes neither database nor key', () => {
    const { status, stdout } = explain(bearing(`${KEY}x`), '--config', config);
    expect(status).toBe(1);
    expect(stdout).toContain('Refused: 401 unauthenticated (unknown).');
    expect(stdout).not.toContain(KEY);
    expect(existsSync(join(folder, 'svc.db')) || existsSync(join(folder, 'svc.db-secret-key'))).toBe(false);
  });

  test('ends with 2 for a configuration with a problem, and names it', () => {
    const bad = join(folder, 'bad.json');
    writeFileSync(bad, '{"tenants": 1}');
    const { status, stderr } = explain(bearing(KEY), '--config', bad);
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^svc-host explain: /)]);
  });
});
