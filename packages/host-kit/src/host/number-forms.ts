import type { Demand } from '../known-options.ts';
import { LONGEST_SILENCE_MS } from '../options/stream-options.ts';

/**
 * Returns the forms of the number options of `createHost`. A number that is none, or out of its range, would show late: as a timer
 * that fires at once, or as a record that is never removed.
 */
export function numberForms(): Readonly<Record<string, Demand>> {
  return Object.fromEntries(
    Object.entries(RANGES).map(([path, range]) => [
      path,
      { ...range, remedy: 'Leave it out for its default.', isOptional: true },
    ]),
  );
}

type Range = Pick<Demand, 'form' | 'fits'>;

const COUNT = count(1);

function count(min: number): Range {
  return {
    form: `a whole number of at least ${min}`,
    fits: (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= min,
  };
}

const DAYS = { unit: 'days', max: 36_500 };
const HOURS = { unit: 'hours', max: 36_500 };
/** About 31 years: a sum of such a time and today is still a date. */
const MS = { unit: 'milliseconds', max: 1e12 };
/** A longer timer of Node fires at once. */
const TIMER = { unit: 'milliseconds', max: 2 ** 31 - 1 };
const SECONDS = { unit: 'seconds', max: 1e9 };

/** A time that is counted in whole units. */
function whole({ unit, max }: typeof MS, min = 0): Range {
  return {
    form: `a whole number of ${unit} from ${min} to ${max}`,
    fits: (value) => typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max,
  };
}

/** A time that may be a part of its unit: half an hour. */
function time({ unit, max }: typeof MS, min = 0): Range {
  return {
    form: `a number of ${unit} from ${min} to ${max}`,
    fits: (value) => typeof value === 'number' && value >= min && value <= max,
  };
}

/** Options that are not here are judged where their section is read: `http.cors`, `features.portal` and others; the days of `retention` too. */
const RANGES: Readonly<Record<string, Range>> = {
  'audit.checkpointIntervalEntries': COUNT,
  'audit.checkpointIntervalSeconds': whole(SECONDS, 1),
  'webhooks.retryPolicy.maxAttempts': COUNT,
  'webhooks.retryPolicy.delayMs': whole(MS),
  'webhooks.retryPolicy.maxDelayMs': whole(MS),
  'webhooks.attemptTimeoutMs': whole(TIMER, 1),
  'webhooks.circuit.failureThreshold': COUNT,
  'webhooks.circuit.cooldownMs': whole(MS),
  'webhooks.circuit.failureLimit': COUNT,
  'webhooks.circuit.failureWindowMs': whole(MS),
  'webhooks.failAfterHours': time(HOURS),
  'webhooks.deadLetterRetentionDays': time(DAYS),
  'webhooks.secretRotation.overlapSeconds': whole({ unit: 'seconds', max: 604_800 }, 60),
  'webhooks.concurrency.total': COUNT,
  'webhooks.concurrency.perTenant': COUNT,
  'webhooks.concurrency.perSubscription': COUNT,
  'http.streams.readerLimits.perRun': COUNT,
  'http.streams.readerLimits.perCredential': COUNT,
  'http.streams.readerLimits.total': COUNT,
  'http.streams.keepAliveMs': whole({ unit: 'milliseconds', max: LONGEST_SILENCE_MS }, 1),
  'http.streams.judgeEveryMs': whole(MS, 1),
  'http.streams.stallMs': whole(MS, 1),
  'features.triggers.maxPerTenant': COUNT,
  'features.triggers.maxBodyBytes': COUNT,
  'features.triggers.retryPolicy.maxAttempts': COUNT,
  'features.triggers.dedupHours': time(HOURS, 24),
  'features.triggers.deadLetterRetentionDays': time(DAYS),
  'features.triggers.maxWaiting': COUNT,
  'features.triggers.maxDeadLetters': COUNT,
  'features.triggers.email.maxAttachments': count(0),
  'features.triggers.email.maxAttachmentBytes': count(0),
  'features.triggers.email.maxAttachmentsBytes': count(0),
  'features.triggers.failAfter': COUNT,
  'features.triggers.streams.maxAtOnce': COUNT,
  'features.triggers.streams.maxPerTenant': COUNT,
  'features.triggers.streams.idleSeconds': whole({ unit: 'seconds', max: Math.floor(TIMER.max / 1000) }, 1),
  'features.triggers.secretOverlapSeconds': whole(SECONDS),
  'features.triggers.perClient.limit': COUNT,
  'features.triggers.perClient.windowSeconds': whole(SECONDS, 1),
  'features.triggers.perTrigger.limit': COUNT,
  'features.triggers.perTrigger.windowSeconds': whole(SECONDS, 1),
  'retention.replyHours': time(HOURS, 24),
  'features.workspaceFiles.maxFileBytes': COUNT,
  'features.workspaceFiles.maxFiles': COUNT,
  'features.workspaceFiles.maxVersions': COUNT,
  'http.maxRequestBodyBytes': COUNT,
};
