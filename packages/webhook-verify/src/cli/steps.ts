import { parseDelivery } from '../delivery.ts';
import { WebhookVerificationError } from '../errors.ts';
import { type DeliveryHeaders, readDeliveryHeaders } from '../headers.ts';
import { prepareSecret, secretFingerprint } from '../secret.ts';
import { parseSignature, SIGNATURE_ALGORITHM, sameDigest } from '../signature.ts';
import { parseTimestamp, requireFresh } from '../timestamp.ts';
import type { Capture } from './capture.ts';
import { explainMismatch } from './mismatch.ts';

/** One step of the verification recipe, with its outcome. */
export interface Step {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'not reached';
  /** The finding, or the remedy of a failure. */
  readonly note: string;
}

/** The conditions under which a capture is verified. */
export interface StepRules {
  readonly secrets: readonly string[];
  /** The time of the judgement in milliseconds since the epoch; `signed` takes the time of signing. */
  readonly at: number | 'signed';
  /** The largest difference between the time of signing and `at`, in seconds. */
  readonly toleranceSeconds: number;
}

/**
 * Walks a captured delivery through the verification recipe. Unlike a receiver it continues after a failure where a
 * later step is still meaningful, so that a stale capture shows whether its signature is right.
 */
export function walkSteps(capture: Capture, rules: StepRules): Step[] {
  const steps: Step[] = [];
  const headers = attempt(steps, 'headers', () => {
    const read = readDeliveryHeaders(capture.headers);
    return [read, `webhook ${read.webhookId}, event type ${read.eventType}`];
  });
  if (headers === undefined) {
    return [...steps, ...notReached('timestamp', 'freshness', 'algorithm', 'signature form', 'signature', 'body')];
  }
  const timestamp = attempt(steps, 'timestamp', () => {
    const seconds = parseTimestamp(headers.timestamp);
    return [seconds, `${headers.timestamp}, ${instant(seconds)}`];
  });
  if (timestamp === undefined) steps.push(...notReached('freshness'));
  else attempt(steps, 'freshness', () => [true, checkAge(timestamp, rules)]);
  attempt(steps, 'algorithm', () => {
    if ((headers.algorithm ?? SIGNATURE_ALGORITHM) === SIGNATURE_ALGORITHM)
      return [true, headers.algorithm ?? 'absent, so v1'];
    throw new WebhookVerificationError('unknown_algorithm', undefined);
  });
  const claimed = attempt(steps, 'signature form', () => [parseSignature(headers.signature), 'sha256= and 64 digits']);
  if (claimed === undefined) return [...steps, ...notReached('signature', 'body')];
  const isSigned = attempt(steps, 'signature', () => [true, matchSecret(capture, headers, claimed, rules.secrets)]);
  if (isSigned === undefined) return [...steps, ...notReached('body')];
  attempt(steps, 'body', () => {
    const { runId, event } = parseDelivery(capture.body, headers, timestamp ?? 0);
    return [true, `${event.type}, run ${runId}, sequence ${event.sequence}`];
  });
  return steps;
}

function checkAge(timestamp: number, { at, toleranceSeconds }: StepRules): string {
  if (at === 'signed') return 'not judged: --at signed takes the time of signing as now';
  requireFresh(timestamp, at, toleranceSeconds);
  return `${age(timestamp, at)}, within ${toleranceSeconds} s`;
}

function matchSecret(
  { body }: Capture,
  { timestamp }: DeliveryHeaders,
  claimed: string,
  secrets: readonly string[],
): string {
  const secret = secrets.find((candidate) => sameDigest(prepareSecret(candidate)(`${timestamp}.`, body), claimed));
  if (secret !== undefined) return `by the secret with fingerprint ${secretFingerprint(secret)}`;
  throw new Error(explainMismatch(body, timestamp, claimed, secrets));
}

function age(timestamp: number, now: number): string {
  const seconds = Math.floor(now / 1000) - timestamp;
  return seconds < 0 ? `${-seconds} s ahead` : `${seconds} s ago`;
}

function instant(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? 'beyond the calendar' : date.toISOString();
}

function attempt<T>(steps: Step[], name: string, run: () => readonly [T, string]): T | undefined {
  try {
    const [value, note] = run();
    steps.push({ name, outcome: 'passed', note });
    return value;
  } catch (error) {
    steps.push({ name, outcome: 'failed', note: noteOf(error) });
    return undefined;
  }
}

function noteOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const details = WebhookVerificationError.is(error) ? Object.values(error.details ?? {}) : [];
  return details.length === 0 ? error.message : `${error.message} (${details.join(', ')})`;
}

function notReached(...names: readonly string[]): Step[] {
  return names.map((name) => ({ name, outcome: 'not reached', note: '' }));
}
