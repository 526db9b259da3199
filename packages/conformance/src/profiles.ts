import { areaOf, type Need, type RunnableCheck } from './check.ts';
import { CHECKS } from './checks/index.ts';
import { capability, durable, overlap, unmetNeed } from './needs.ts';
import type { ProfileName } from './profile-name.ts';
import type { Missing } from './report/report.ts';
import type { Result } from './report/result.ts';
import type { Major } from './rule.ts';
import type { SkipCause } from './skip-cause.ts';
import type { Target } from './target.ts';

/** A profile: the checks that must have run. */
export interface Profile {
  /** One sentence that says what a run with this profile has looked at. */
  readonly meaning: string;
  /** Areas of its checks, and single checks by their id. Undefined: all checks. */
  readonly checks?: readonly string[];
}

/** A profile with the rules by which a skipped check is missing. */
interface JudgedProfile extends Profile {
  /** Capabilities that the host must advertise. */
  readonly demands: readonly Need[];
  /** A check of the profile that is skipped for one of these causes is missing. */
  readonly missingFor: readonly SkipCause[];
}

/** The least that a caller of a host needs: create a run, read it, cancel it, and read its events. */
const CORE = [
  ...['discovery', 'authentication', 'errors'],
  ...['runs.created-201', 'runs.created-links', 'runs.unknown-workflow-400', 'runs.bad-body-400', 'runs.snapshot'],
  ...['runs.unknown-404', 'runs.completes', 'runs.fails', 'runs.cancelled', 'runs.cancel-ended-v1'],
  ...['runs.cancel-ended-v2', 'runs.cancel-unknown-404', 'events.envelope', 'events.sequence'],
  ...['events.started-payload', 'events.one-terminal', 'events.poll-page', 'events.poll-cursor'],
  ...['events.poll-past-end', 'events.poll-bad-cursor-400'],
];

/** The profiles by name, as they are judged. */
const JUDGED: Readonly<Record<ProfileName, JudgedProfile>> = {
  core: {
    meaning: 'discovery, credentials, errors; runs are created, read, cancelled and polled',
    checks: CORE,
    demands: [],
    missingFor: ['set-up'],
  },
  runs: {
    meaning: 'core, pauses, forks, lists, and streams in every mode',
    checks: [...CORE, 'runs', 'events', 'idempotency'],
    demands: [],
    missingFor: ['set-up'],
  },
  versions: {
    meaning: 'core, and two majors side by side',
    checks: [...CORE, 'versions', 'crossing'],
    demands: [overlap],
    missingFor: ['set-up'],
  },
  webhooks: {
    meaning: 'subscriptions, deliveries and the rotation of secrets',
    checks: ['webhooks', 'deliveries', 'rotation'],
    demands: [capability('webhooks')],
    missingFor: ['set-up'],
  },
  durable: {
    meaning: 'webhooks with retries and dead letters',
    checks: ['webhooks', 'deliveries', 'rotation', 'durable', 'dead-letters'],
    demands: [capability('webhooks'), durable],
    missingFor: ['set-up'],
  },
  interrupts: {
    meaning: 'approvals, clarifications and external events',
    checks: ['interrupts', 'clarifications', 'external-events'],
    demands: [],
    missingFor: ['set-up'],
  },
  isolation: {
    meaning: 'tenants, workspaces, modes, scopes and rate limits; needs every further key',
    checks: ['authentication', 'authorization'],
    demands: [],
    missingFor: ['set-up', 'extra'],
  },
  full: {
    meaning: 'every check that applies to the host; needs every key and every option',
    demands: [],
    missingFor: ['set-up', 'extra'],
  },
};

/**
 * The profiles by name. A check for a capability that the host may leave out, or for hosts of another kind, is not
 * missing when it is skipped.
 *
 * @example
 * import { PROFILES } from '@svc/conformance';
 *
 * for (const [name, { meaning }] of Object.entries(PROFILES)) console.log(name, meaning);
 */
export const PROFILES: Readonly<Record<ProfileName, Profile>> = JUDGED;

/** The requirements of a run. */
export interface Required {
  readonly profiles: readonly ProfileName[];
  /** The majors that were asked for. Undefined: those that the host advertises. */
  readonly majors: readonly Major[] | undefined;
}

/** Returns a filter of the checks that one of the profiles contains. */
export function inProfiles(names: readonly ProfileName[]): (check: RunnableCheck) => boolean {
  const profiles = names.map((name) => JUDGED[name]);
  return (check) =>
    profiles.some(({ checks }) => checks?.some((name) => name === check.id || name === areaOf(check)) ?? true);
}

/** Lists everything that the run was required to look at and did not. */
export function missingFrom(results: readonly Result[], target: Target, required: Required): readonly Missing[] {
  const absent = (required.majors ?? [])
    .filter((major) => !target.majors.includes(major))
    .map((major) => ({ major, reason: `the host does not advertise major ${major}` }));
  const ran = results.some(({ outcome }) => outcome !== 'skipped');
  if (!ran) return [...absent, { reason: 'no check ran' }];
  const majors = target.majors.filter((major) => required.majors?.includes(major) ?? true);
  return [...absent, ...required.profiles.flatMap((profile) => missingOf(profile, results, target, majors))];
}

function missingOf(
  profile: ProfileName,
  results: readonly Result[],
  target: Target,
  majors: readonly Major[],
): readonly Missing[] {
  const { checks, demands, missingFor } = JUDGED[profile];
  const undemanded = majors.flatMap((major) => {
    const unmet = unmetNeed(demands, target, major);
    return unmet === undefined ? [] : [{ profile, major, reason: unmet.reason }];
  });
  const skipped = results.filter(
    ({ id, area, cause }) =>
      cause !== undefined &&
      missingFor.includes(cause) &&
      (checks?.some((name) => name === id || name === area) ?? true),
  );
  // `only` can leave out checks of the profile. Nothing is known about them.
  const selected = new Set(results.map(({ id, major }) => `${id}@${major}`));
  const leftOut = CHECKS.filter(inProfiles([profile])).flatMap(({ id, majors: own }) =>
    own
      .filter((major) => majors.includes(major) && !selected.has(`${id}@${major}`))
      .map((major) => ({ profile, id, major, reason: 'the check is not among those of --only' })),
  );
  return [...undemanded, ...leftOut, ...skipped.map(({ id, major, reason = '' }) => ({ profile, id, major, reason }))];
}
