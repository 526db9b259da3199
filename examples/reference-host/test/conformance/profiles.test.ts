import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ConformanceOptions, runConformance, UsageError } from '@svc/conformance';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KEYS } from './conforming-config.ts';
import { bootConforming, HOSTS } from './hosts.ts';

let host: Awaited<ReturnType<typeof bootConforming>>;
beforeAll(async () => {
  host = await bootConforming(HOSTS.retired);
});
afterAll(() => host.stop());

const look = (options: Partial<ConformanceOptions>) =>
  runConformance({ url: host.url, receiver: false, only: ['discovery', 'runs', 'authentication'], ...options });

const CORE = { profiles: ['core'] } as const;

test('a run without a key has not looked at the profile core', async () => {
  const { summary, missing } = await look(CORE);
  expect(summary.failed).toBe(0);
  expect(missing).toContainEqual({
    ...{ profile: 'core', id: 'runs.completes', major: 2 },
    reason: '--key or SVC_KEY is not set',
  });
});

test('a run whose key lacks scopes has not looked at it either', async () => {
  const { summary, missing } = await look({ ...CORE, keys: { main: KEYS.readOnly } });
  expect(summary.failed).toBe(0);
  expect(missing).toContainEqual({
    ...{ profile: 'core', id: 'runs.completes', major: 2 },
    reason: 'the key lacks the scope runs:create',
  });
});

test('a run under a major that the host does not serve has looked at nothing', async () => {
  const { summary, missing } = await look({ majors: [1], keys: KEYS });
  expect(summary).toEqual({ passed: 0, failed: 0, warned: 0, skipped: 0 });
  expect(missing).toEqual([{ major: 1, reason: 'the host does not advertise major 1' }, { reason: 'no check ran' }]);
});

test('a run with a key of another host ends with an error', async () => {
  const wrong = look({ keys: { main: `${KEYS.main}x` } });
  await expect(wrong).rejects.toThrow(UsageError);
  await expect(wrong).rejects.toThrow(/the host rejects the key with 401/);
});

test('a workflow of the host stands in for a fixture', async () => {
  const { results } = await look({
    keys: KEYS,
    only: ['runs.snapshot', 'runs.completes', 'events.started-payload', 'interrupts.accepted'],
    workflows: {
      'conformance-noop': { id: 'conformance-idempotent' },
      'conformance-approval': { id: 'conformance-approval-quorum', node: 'no-such-node' },
    },
  });
  const outcomes = results.map(({ id, outcome, failure }) => [id, outcome, failure?.seen]);
  expect(outcomes).toEqual([
    ['runs.snapshot', 'passed', undefined],
    ['runs.completes', 'passed', undefined],
    ['events.started-payload', 'passed', undefined],
    // The host has no such node, so the suite has asked for it.
    ['interrupts.accepted', 'failed', expect.stringMatching(/^404 /)],
  ]);
});

test('the command passes with --fail-on-skipped when its file lists the skips of the host', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-expected-skips-'));
  try {
    const listed = join(folder, 'skips.json');
    const command = fileURLToPath(import.meta.resolve('@svc/conformance/package.json')).replace(
      'package.json',
      'dist/cli/main.js',
    );
    const env = { SVC_KEY: KEYS.main, SVC_EXPIRED_KEY: KEYS.expired, SVC_REVOKED_KEY: KEYS.revoked };
    const only = ['--only', 'discovery,authentication', '--no-receiver', '--failures-only'];
    const exitCode = (skips: readonly string[]) => {
      writeFileSync(listed, JSON.stringify(skips));
      const args = [command, host.url, ...only, '--fail-on-skipped', '--expected-skips', listed];
      return spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    };
    const refused = exitCode(['authentication.resource-metadata']);
    expect([refused.status, refused.stderr]).toEqual([
      1,
      'svc-conformance: authentication.credential-in-url@2 was skipped: --spare-key or SVC_SPARE_KEY is not set.\n',
    ]);
    const passed = exitCode(['authentication.resource-metadata', 'authentication.credential-in-url@2']);
    expect([passed.status, passed.stderr]).toEqual([0, '']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
