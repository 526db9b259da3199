import type { Api } from './api.ts';
import { areaOf, type RunnableCheck } from './check.ts';
import { curlOf } from './http/curl.ts';
import type { Caller } from './keys.ts';
import { Inapplicable, Mismatch } from './mismatch.ts';
import { unmetNeed } from './needs.ts';
import type { Redactor } from './redact.ts';
import type { Failure, Result } from './report/result.ts';
import type { Major } from './rule.ts';
import type { SkipCause } from './skip-cause.ts';
import { sleep } from './sleep.ts';
import type { Target } from './target.ts';
import type { Witness } from './witness.ts';
import type { World } from './world.ts';

export interface RunCheckOptions {
  readonly major: Major;
  readonly target: Target;
  readonly apiFor: (until: AbortSignal) => (major: Major, caller: Caller) => Api;
  readonly redact: Redactor;
  readonly witness: Witness;
  /** Interrupts the whole run. */
  readonly signal: AbortSignal;
}

/** Runs one check under one major within 60 s, then cleans up its runs and subscriptions. Never throws. */
export async function runCheck(check: RunnableCheck, options: RunCheckOptions): Promise<Result> {
  const { major, target, signal } = options;
  const startedAt = performance.now();
  const result = (outcome: Result['outcome'], more: Pick<Result, 'reason' | 'cause' | 'failure'> = {}): Result => ({
    id: check.id,
    area: areaOf(check),
    name: check.name,
    level: check.level,
    rule: check.rule,
    major,
    outcome,
    ...more,
    durationMs: Math.round(performance.now() - startedAt),
  });

  const skipped = (cause: SkipCause, reason: string) => result('skipped', { reason, cause });
  const unmet = unmetNeed(check.needs, target, major);
  if (unmet !== undefined) return skipped(unmet.cause, unmet.reason);
  if (signal.aborted) return skipped('set-up', INTERRUPTED);

  const tag = `conformance-${crypto.randomUUID()}`;
  const cleaners: ((world: World) => Promise<unknown>)[] = [];
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const until = AbortSignal.any([signal, deadline]);
  try {
    await check.run(worldOf({ ...options, tag }, until, cleaners));
    return result('passed');
  } catch (error) {
    if (error instanceof Inapplicable) return skipped('host', error.message);
    if (signal.aborted) return skipped('set-up', INTERRUPTED);
    const failure = failureOf(deadline.aborted ? tooSlow() : error, options.redact);
    // A host of another project breaks no rule of the interface when it does without a promise of this one.
    const isRequired = check.level === 'MUST' && check.rule.source !== 'own';
    return result(isRequired ? 'failed' : 'warned', { failure });
  } finally {
    await cleanUp({ ...options, tag }, cleaners);
  }
}

const INTERRUPTED = 'the run was interrupted';
const DEADLINE_MS = 60_000;
const CLEANING_MS = 10_000;
const POLL_MS = 80;

function tooSlow(): Mismatch {
  return new Mismatch(`the check to end within ${DEADLINE_MS / 1000} s`, 'a check that did not end');
}

/**
 * Runs the cleaners, last one first. A cleaner that fails is ignored: the outcome of the check does not depend on it.
 */
async function cleanUp(options: WorldOptions, cleaners: ((world: World) => Promise<unknown>)[]): Promise<void> {
  const world = worldOf(options, AbortSignal.timeout(CLEANING_MS), []);
  for (const clean of cleaners.reverse()) await clean(world).catch(() => {});
}

interface WorldOptions extends RunCheckOptions {
  readonly tag: string;
}

function worldOf(
  { major, target, apiFor, redact, witness, tag }: WorldOptions,
  signal: AbortSignal,
  cleaners: ((world: World) => Promise<unknown>)[],
): World {
  const api = apiFor(signal);
  return {
    major,
    target,
    signal,
    tag,
    api: api(major, 'main'),
    as: (caller) => api(major, caller),
    under: (other, caller = 'main') => api(other, caller),
    inbox(...answers) {
      if (target.receiver === undefined) throw new Inapplicable('the suite runs without a receiver (--no-receiver)');
      return target.receiver.inbox(answers.length === 0 ? [200] : answers);
    },
    afterwards: (clean) => void cleaners.push(clean),
    conceal: redact.conceal,
    witnessed: (id) => witness.verdictOf(id, major),
    sleep: (ms) => sleep(ms, signal),
    async eventually(expected, look, withinMs = target.patienceMs) {
      const end = performance.now() + withinMs;
      for (;;) {
        const found = await look();
        if (found !== undefined) return found;
        if (performance.now() >= end)
          throw new Mismatch(`${expected} within ${withinMs / 1000} s`, 'no such change in that time');
        await sleep(POLL_MS, signal);
      }
    },
  };
}

function failureOf(error: unknown, redact: Redactor): Failure {
  if (!(error instanceof Mismatch)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { expected: 'the check to end without an error of its own', seen: redact(text) };
  }
  const { expected, seen, answer } = error;
  return {
    expected: redact(expected),
    seen: redact(seen),
    ...(answer !== undefined && { curl: redact(curlOf(answer.sent)) }),
  };
}
