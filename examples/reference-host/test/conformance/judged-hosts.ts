import { CHECKS, type ConformanceOptions, type Report, runConformance } from '@svc/conformance';
import { DURATIONS, KEYS } from './conforming-config.ts';
import { bootConforming, type HOSTS } from './hosts.ts';

/** Boots a host with changes to the conforming configuration, and runs the suite against it. */
export async function judge(changes: object, options: Partial<ConformanceOptions> = {}): Promise<Report> {
  const host = await bootConforming(changes);
  try {
    return await runConformance({
      url: host.url,
      keys: KEYS,
      durations: DURATIONS,
      // An overloaded machine takes ten seconds and more for an answer.
      requestTimeoutMs: 60_000,
      patienceMs: 60_000,
      artifactWorkflow: 'artifact',
      ...options,
    });
  } finally {
    await host.stop();
  }
}

export function failures({ results }: Report) {
  return results
    .filter(({ outcome }) => outcome === 'failed' || outcome === 'warned')
    .map(({ id, major, failure }) => [id, major, failure]);
}

/** Returns the ids of checks that were skipped under every major. */
export function skipped({ results }: Report): readonly string[] {
  const ran = new Set(results.filter(({ outcome }) => outcome !== 'skipped').map(({ id }) => id));
  return [...new Set(results.map(({ id }) => id))].filter((id) => !ran.has(id)).sort();
}

/** Checks that need another configuration, or the spare key. */
export const OF_OTHER_HOSTS = [
  'versions.client-floor-426',
  'versions.v1-retired-at-once',
  'authentication.credential-in-url',
  'authentication.resource-metadata',
  'authorization.rate-limit-429',
  'authorization.rate-limit-details',
  'authorization.rate-limit-before-scope',
  'authorization.rate-limit-per-key',
  'webhooks.url-loopback-rejected',
];

/** Checks of the refusal of an optional operation, which this host serves. */
export const SERVED = ['runs.list-unadvertised-404', 'audit.unadvertised-404', 'workspace-files.unadvertised-501'];

const WITHOUT_TRIGGERS = 'triggers.unadvertised';
const OF_TRIGGERS = CHECKS.filter(({ id }) => id.startsWith('triggers.') && id !== WITHOUT_TRIGGERS).map(
  ({ id }) => id,
);
const BEST_EFFORT = CHECKS.filter(({ id }) => id.startsWith('best-effort.')).map(({ id }) => id);
const { spare: _, ...others } = KEYS;
/** All keys but the spare one, whose checks use up the rate limit. */
export const withoutSpare = others;

/** The hosts that pass the most checks: their keys of HOSTS, the suite's options, and the checks that are skipped there. */
export const JUDGED = [
  {
    title: 'durable delivery',
    host: 'durable',
    options: { keys: withoutSpare, profiles: ['runs', 'versions', 'durable', 'interrupts', 'isolation'] },
    skips: [...OF_OTHER_HOSTS, ...SERVED, ...BEST_EFFORT, ...OF_TRIGGERS].sort(),
  },
  {
    title: 'best-effort delivery',
    host: 'best-effort',
    // Other areas do not depend on the mode of delivery.
    options: {
      keys: withoutSpare,
      only: ['discovery', 'deliveries', 'best-effort', 'durable', 'dead-letters', 'rotation'],
    },
    skips: [],
  },
  {
    title: 'triggers',
    host: 'triggers',
    options: { keys: withoutSpare, only: ['discovery', 'triggers'], receiver: false },
    skips: [WITHOUT_TRIGGERS],
  },
] as const satisfies readonly {
  readonly title: string;
  readonly host: keyof typeof HOSTS;
  readonly options: Partial<ConformanceOptions>;
  readonly skips: readonly string[];
}[];

/** The results of a report that are judged. All lists are as they should be when the host passes. */
export function judgement(report: Report) {
  return {
    failures: failures(report),
    skips: skipped(report),
    missing: report.missing.filter(({ reason }) => !reason.includes('SVC_SPARE_KEY')),
  };
}
