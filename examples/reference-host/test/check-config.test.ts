import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scratch } from './booted-host.ts';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

let folder: ReturnType<typeof scratch>;
beforeAll(() => {
  folder = scratch();
});
afterAll(() => folder.remove());

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

function configured(config: object | string): string {
  const file = folder.path('config.json');
  writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config));
  return file;
}

test.each<[string, () => object | string, RegExp]>([
  ['a value of the file', () => ({ baseUrl: 'svc.example.com' }), /^baseUrl: must be an origin\. [^\n]+\n$/],
  ['the syntax of the file', () => '{\n  "org": "a",\n}', /^the file: is not JSON at line 3, column 1: [^\n]+\n$/],
  [
    'a file that it names',
    () => ({ egress: { caFile: folder.path('config.json') } }),
    /^egress\.caFile: the file has no certificate\. [^\n]+\n$/,
  ],
])('check-config and the start alike end with 2 and one line for a problem with %s', (_problem, config, line) => {
  const file = configured(config());
  for (const args of [
    ['check-config', file],
    ['--config', file],
  ]) {
    const { status, stdout, stderr } = run(...args);
    expect(stderr).toMatch(line);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  }
});

test('check-config hears what the parts of the host say of their options', () => {
  const issuer = { issuer: 'https://idp.example.com', audience: 'svc' };
  const { status, stderr } = run('check-config', configured({ oidc: { issuers: [issuer, issuer] } }));
  expect(stderr).toMatch(/^[^\n]*idp\.example\.com[^\n]*\n$|^[^\n]*issuer[^\n]*\n$/);
  expect(status).toBe(2);
});

test('check-config accepts a right configuration, and creates no database and no key', () => {
  const database = folder.path('svc.db');
  const file = configured({ store: `sqlite:${database}` });
  expect(run('check-config', file)).toEqual({ status: 0, stdout: `${file}: has no problem.\n`, stderr: '' });
  expect([database, `${database}-secret-key`, `${database}-audit-key.pem`].filter(existsSync)).toEqual([]);
});

test.each([
  ['an unknown command', ['chek-config'], /^"chek-config": is not a command\. Use one of check-config/],
  ['check-config without a file', ['check-config'], /^check-config: must be followed by one file\./],
])('%s ends with 2', (_usage, args, line) => {
  const { status, stderr } = run(...args);
  expect(stderr).toMatch(line);
  expect(status).toBe(2);
});

test('--help lists the commands', () => {
  const { status, stdout } = run('--help');
  expect(stdout).toMatch(/svc-host check-config FILE\n/);
  expect(status).toBe(0);
});
