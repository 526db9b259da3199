import { CHECKS, type ConformanceOptions, type Report } from '@svc/conformance';
import { describe, expect, test, vi } from 'vitest';
import { HOSTS } from './hosts.ts';
import { failures, JUDGED, judge, judgement, SERVED, skipped, withoutSpare } from './judged-hosts.ts';

// Each test boots a host and runs the suite, mostly waiting.
vi.setConfig({ maxConcurrency: 2 });

/** Checks that have passed, as `<id> <major>`. */
const passed = new Set<string>();

async function judged(changes: object, options: Partial<ConformanceOptions>): Promise<Report> {
  const report = await judge(changes, options);
  for (const { id, major, outcome } of report.results) if (outcome === 'passed') passed.add(`${id} ${major}`);
  return report;
}

describe.concurrent('the reference host passes every check', () => {
  test.each(JUDGED)(
    'with $title, on SQLite',
    async ({ host, options, skips }) => {
      const report = await judged(HOSTS[host], options);
      expect(judgement(report)).toEqual({ failures: [], skips, missing: [] });
    },
    600_000,
  );

  test('with a rate limit', async () => {
    const only = [
      'authorization.rate-limit-429',
      'authorization.rate-limit-details',
      'authorization.rate-limit-before-scope',
      'authorization.rate-limit-per-key',
      'authentication.credential-in-url',
    ];
    const report = await judged(HOSTS.limited, { only, receiver: false });
    expect([failures(report), skipped(report)]).toEqual([[], []]);
  });

  test.each([
    ['a minimum client version', 'floor', 'versions'],
    ['major 1 retired', 'retired', 'versions'],
    ['tokens of an issuer', 'tokens', 'authentication'],
    ['loopback receivers rejected', 'closed', 'webhooks'],
  ] as const)('with %s', async (_title, host, area) => {
    const report = await judged(HOSTS[host], { only: [area], receiver: false, keys: withoutSpare });
    expect(failures(report)).toEqual([]);
  });
});

test('every check has passed under every major that it has', () => {
  const all = CHECKS.filter(({ id }) => !SERVED.includes(id)).flatMap(({ id, majors }) =>
    majors.map((major) => `${id} ${major}`),
  );
  expect(all.filter((one) => !passed.has(one))).toEqual([]);
});
