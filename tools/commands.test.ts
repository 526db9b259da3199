import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Every command of every package, with the file that Node runs. */
const COMMANDS = readdirSync(join(ROOT, 'packages')).flatMap((folder) => {
  const { bin = {}, version }: { bin?: Record<string, string>; version: string } = JSON.parse(
    readFileSync(join(ROOT, 'packages', folder, 'package.json'), 'utf8'),
  );
  return Object.entries(bin).map(([name, file]) => ({ name, version, path: join(ROOT, 'packages', folder, file) }));
});

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { PATH = '' } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { PATH, ...env },
    timeout: 30_000,
  });
  return { status, stdout, stderr };
}

test('the packages have commands', () => {
  expect(COMMANDS.length).toBeGreaterThanOrEqual(3);
});

describe.each(COMMANDS)('$name', ({ name, version, path }) => {
  test('shows its help', () => {
    expect(run([path, '--help'])).toMatchObject({ status: 0, stdout: expect.stringMatching(/usage/i), stderr: '' });
  });

  test('prints its version', () => {
    expect(run([path, '--version'])).toEqual({ status: 0, stdout: `${name} ${version}\n`, stderr: '' });
  });

  test.each(['18.20.8', '20.19.5', '22.18.0'])('ends with one sentence and the code 2 on Node %s', (node) => {
    const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } });`;
    expect(run(['--import', `data:text/javascript,${encodeURIComponent(pretend)}`, path, '--version'])).toEqual({
      status: 2,
      stdout: '',
      stderr: `${name}: needs Node 22.19 or later, and this is Node ${node}. Install a newer Node.\n`,
    });
  });

  test('loads nothing before it has looked at the version of Node', () => {
    const code = readFileSync(path, 'utf8');
    expect(code).toMatch(/^#!\/usr\/bin\/env node\n/);
    // A static import would load the rest of the command first, with syntax and modules that an older Node lacks.
    expect(code).not.toMatch(/^\s*(?:import|export)\b(?!\s*\()/m);
    expect(code).toMatch(/await import\(/);
  });
});
