import { CHECKS } from '@svc/conformance';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { HANG_MS } from '../booted-host.ts';
import { FAULTS } from './faults/index.ts';
import { judge } from './faulty-host.ts';
import { bootConforming, type ConformingHost, HOSTS, type HostName } from './hosts.ts';

// Most tests spend their time waiting.
vi.setConfig({ maxConcurrency: 16 });

const NAMES = Object.keys(HOSTS) as HostName[];

const hosts = new Map<HostName, ConformingHost>();
beforeAll(async () => {
  await Promise.all(NAMES.map(async (name) => hosts.set(name, await bootConforming(HOSTS[name]))));
});
afterAll(() => Promise.all([...hosts.values()].map((host) => host.stop())));

/** Majors under which each check has failed. */
const failed = new Map<string, Set<number>>();

describe.concurrent('a host that', () => {
  test.each(FAULTS)(
    '$fault fails its checks',
    async (fault) => {
      const url = hosts.get(fault.on ?? 'durable')?.url ?? '';
      const report = await judge(url, fault);
      const results = report.results.filter(({ id }) => fault.breaks.includes(id));
      for (const { id, major, outcome } of results) {
        if (outcome === 'failed' || outcome === 'warned') failed.set(id, (failed.get(id) ?? new Set()).add(major));
      }
      const overlooked = results.filter(({ outcome }) => outcome === 'passed' || outcome === 'skipped');
      expect(overlooked.map(({ id, major, outcome, reason }) => [id, major, outcome, reason])).toEqual([]);
      expect(new Set(results.map(({ id }) => id))).toEqual(new Set(fault.breaks));
    },
    HANG_MS,
  );
});

test('every check can fail under every major that it has', () => {
  const never = CHECKS.flatMap(({ id, majors }) =>
    majors.filter((major) => !failed.get(id)?.has(major)).map((major) => `${id} under major ${major}`),
  );
  expect(never).toEqual([]);
});
