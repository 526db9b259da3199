import { spawnSync } from 'node:child_process';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

interface Workspaces {
  commandsOfPackages(): Map<string, string>;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { commandsOfPackages }: Workspaces = await import(new URL('./bootstrap/workspaces.mjs', import.meta.url).href);

/** Loaded before a command, so that this Node says that it is an older one. */
const OLDER = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.0' } })`;

describe.each([...commandsOfPackages()])('%s', (name, path) => {
  const start = (...options: string[]) =>
    spawnSync(execPath, [...options, path, '--help'], { cwd: ROOT, encoding: 'utf8' });

  test('shows its help', () => {
    const { status, stdout } = start();
    expect([status, stdout]).toEqual([0, expect.stringMatching(/usage/i)]);
  });

  test('says which Node it needs when it is started with an older one', () => {
    const { status, stderr } = start('--import', `data:text/javascript,${encodeURIComponent(OLDER)}`);
    expect([status, stderr]).toEqual([
      2,
      `${name}: needs Node 22.19 or later, and this is Node 20.19.0. Install a newer Node.\n`,
    ]);
  });
});
