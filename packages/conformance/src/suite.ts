import { apiOf } from './api.ts';
import { areaOf, type RunnableCheck } from './check.ts';
import { CHECKS } from './checks/index.ts';
import { explore } from './explore.ts';
import { connections } from './http/send.ts';
import type { Caller } from './keys.ts';
import { KEY_NAMES } from './keys.ts';
import { type ConformanceOptions, UsageError } from './options.ts';
import type { ProfileName } from './profile-name.ts';
import { inProfiles, missingFrom, PROFILES } from './profiles.ts';
import { startReceiver } from './receiver/receiver.ts';
import { redactor } from './redact.ts';
import { coverageOf } from './report/coverage.ts';
import type { Report, ReportOptions } from './report/report.ts';
import type { Result } from './report/result.ts';
import type { Major } from './rule.ts';
import { runCheck } from './run-check.ts';
import { isRecord, type Target } from './target.ts';
import { VERSION } from './version.ts';
import { Witness } from './witness.ts';

/**
 * Tests a host against the protocol, over HTTP alone. It creates runs and subscriptions in the workspace of the keys,
 * and cancels or unregisters them at the end of each check. Without `keys.main` only public operations and refusals are
 * tested.
 *
 * @returns the result of every selected check
 * @throws {Unreachable} when the URL does not respond, or does not serve a discovery document
 * @throws {UsageError} when `url` is not an origin, `only` names an unknown check or area, or the receiver cannot
 * listen
 * @example
 * import { runConformance } from '@svc/conformance';
 *
 * const { summary, results } = await runConformance({
 *   url: 'http://127.0.0.1:8787',
 *   keys: { main: process.env.SVC_KEY ?? '' },
 * });
 * const failed = results.filter(({ outcome }) => outcome === 'failed');
 * console.log(summary); // { passed: 254, failed: 0, warned: 0, skipped: 30 }
 * for (const { id, major, failure } of failed) console.log(id, major, failure);
 */
export async function runConformance(options: ConformanceOptions): Promise<Report> {
  const origin = originOf(options.url);
  const profiles = profilesOf(options);
  const isWanted = options.profilesOnly === true ? inProfiles(profiles) : () => true;
  const checks = selected(options.only).filter(isWanted);
  const keys = Object.fromEntries(
    Object.entries(options.keys ?? {}).filter(([, key]) => key !== undefined && key !== ''),
  );
  const redact = redactor();
  for (const name of KEY_NAMES) redact.conceal(keys[name] ?? '');
  const startedAt = new Date();
  const began = performance.now();
  const { signal = new AbortController().signal, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const open = connections();
  const witness = new Witness(checks);
  const receiver = options.receiver === false ? undefined : await startReceiver(options.receiver);
  try {
    const apiFor = (until: AbortSignal) => (major: Major, caller: Caller) => {
      const key = caller === 'nobody' ? undefined : keys[caller];
      return apiOf({
        origin,
        major,
        caller,
        key,
        connections: open,
        timeoutMs: requestTimeoutMs,
        signal: until,
        witness,
      });
    };
    const target = await explore({ ...options, origin, keys, receiver, apiOf: apiFor(signal) });
    witness.begin(target);
    const jobs = checks.flatMap((check) => majorsOf(check, target, options.majors).map((major) => ({ check, major })));
    const run = (some: typeof jobs) =>
      inParallel(some, options.concurrency ?? CONCURRENCY, async ({ check, major }) => {
        const result = await runCheck(check, { major, target, apiFor, redact, witness, signal });
        options.onResult?.(result);
        return result;
      });
    const asking = await run(jobs.filter(({ check }) => check.watch === undefined));
    // The others speak of all answers, so they come last, in the list of checks as well.
    const results = [...asking, ...(await run(jobs.filter(({ check }) => check.watch !== undefined)))];
    return {
      reportVersion: 1,
      suiteVersion: VERSION,
      url: origin,
      startedAt: startedAt.toISOString(),
      durationMs: Math.round(performance.now() - began),
      host: { ...implementationOf(target), protocolVersions: target.protocolVersions },
      summary: summaryOf(results),
      profiles,
      missing: missingFrom(results, target, { profiles, majors: options.majors }),
      options: optionsOf(options, keys),
      coverage: coverageOf(results, CHECKS, target.majors),
      results,
    };
  } finally {
    await receiver?.close();
    open.close();
  }
}

const REQUEST_TIMEOUT_MS = 10_000;
const CONCURRENCY = 8;

/** Returns the options that decide what the run looks at, without any key. */
function optionsOf(options: ConformanceOptions, keys: ConformanceOptions['keys']): ReportOptions {
  const {
    majors,
    only = [],
    profilesOnly = false,
    workflows = {},
    artifactWorkflow,
    receiver,
    durations = {},
  } = options;
  return {
    keys: KEY_NAMES.filter((name) => keys?.[name] !== undefined),
    ...(majors !== undefined && { majors }),
    ...(only.length > 0 && { only }),
    profilesOnly,
    workflows,
    artifactWorkflow: artifactWorkflow !== undefined,
    receiver: receiver !== false,
    durations,
  };
}

function profilesOf({ profiles, only = [] }: ConformanceOptions): readonly ProfileName[] {
  const asked = profiles ?? (only.length === 0 ? (['core'] as const) : []);
  const unknown = asked.filter((name) => !Object.hasOwn(PROFILES, name));
  if (unknown.length === 0) return asked;
  throw new UsageError(
    `profiles: there is no profile ${unknown.join(', ')}. Choose from ${Object.keys(PROFILES).join(', ')}.`,
  );
}

/** Returns the majors to run a check under: all of its own when the host advertises none. */
function majorsOf(check: RunnableCheck, target: Target, wanted: readonly Major[] | undefined): readonly Major[] {
  const considered = check.majors.filter((major) => wanted === undefined || wanted.includes(major));
  return considered.filter((major) => target.majors.length === 0 || target.majors.includes(major));
}

function selected(only: readonly string[] | undefined): readonly RunnableCheck[] {
  if (only === undefined || only.length === 0) return CHECKS;
  const unknown = only.filter((name) => !CHECKS.some((check) => names(check, name)));
  if (unknown.length > 0)
    throw new UsageError(
      `only: there is no check or area ${unknown.join(', ')}. \`svc-conformance --list\` prints them.`,
    );
  return CHECKS.filter((check) => only.some((name) => names(check, name)));
}

function names(check: RunnableCheck, name: string): boolean {
  return check.id === name || areaOf(check) === name;
}

function originOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isOrigin = parsed !== undefined && /^https?:$/.test(parsed.protocol) && parsed.pathname === '/';
  if (!isOrigin || parsed.search !== '' || parsed.username !== '') {
    throw new UsageError(
      'url: must be the origin of a host, without path, query or credentials. Pass for example http://127.0.0.1:8787.',
    );
  }
  return parsed.origin;
}

/** Runs at most `width` jobs at a time. Outcomes are in the order of the jobs. */
async function inParallel<Job, Outcome>(
  jobs: readonly Job[],
  width: number,
  work: (job: Job) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes = new Array<Outcome>(jobs.length);
  const queue = jobs.entries();
  await Promise.all(
    Array.from({ length: Math.min(width, jobs.length) }, async () => {
      for (const [index, job] of queue) outcomes[index] = await work(job);
    }),
  );
  return outcomes;
}

function implementationOf({ documents }: Target): {
  readonly name: string | undefined;
  readonly version: string | undefined;
} {
  const found = [documents[1]?.implementation, documents[2]?.implementation].find(isRecord);
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return { name: text(found?.name), version: text(found?.version) };
}

function summaryOf(results: readonly Result[]): Report['summary'] {
  const count = (outcome: Result['outcome']) => results.filter((result) => result.outcome === outcome).length;
  return { passed: count('passed'), failed: count('failed'), warned: count('warned'), skipped: count('skipped') };
}
