import { EgressError } from '@svc/egress-guard';
import type { GuardedStream } from '@svc/egress-guard/stream';
import { factAboutTrigger } from '../../audit/fact.ts';
import { HostError } from '../../errors.ts';
import { sleep } from '../../ports/clock.ts';
import { describeError } from '../../ports/log.ts';
import type { TriggerOf } from '../../ports/triggers.ts';
import type { SecretBox } from '../../sealing/secret-box.ts';
import { retryDelay } from '../../webhooks/retry.ts';
import type { HeldPlace } from '../reading/held-place.ts';
import { NoRoom } from '../reading/take.ts';
import { openTriggerSecrets } from '../secrets.ts';
import type { StartOptions } from '../start.ts';
import { readConnection } from './connection.ts';
import type { ReadStreamOptions } from './message.ts';
import { isEnded, StreamFault, streamRequest } from './request.ts';

export interface ReadStreamsOptions extends StartOptions, ReadStreamOptions {
  /** Opens URLs through the egress guard. */
  readonly open: GuardedStream;
  readonly secrets: SecretBox;
  /** The longest time without a complete line, in ms. */
  readonly idleMs: number;
}

type StreamTrigger = TriggerOf<'stream'>;

/**
 * Reads the stream of a trigger, and connects again after each end and each failure, until the signal aborts, the trigger is active no
 * more, or the server ends the stream for good. Never rejects.
 */
export async function readStream(
  options: ReadStreamsOptions,
  trigger: StreamTrigger,
  place: HeldPlace,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, random } = options;
  const { triggerId } = trigger;
  const pause = { ms: DEFAULT_RETRY_MS };
  while (!signal.aborted) {
    let fault: unknown;
    try {
      const end = await readOnce(options, trigger, place, pause, signal);
      if (end === 'for-good') return await endForGood(options, trigger, place);
      if (end === 'inactive') return;
    } catch (error) {
      fault = error;
    }
    if (signal.aborted) return;
    const failures = fault === undefined ? 0 : place.reading.failures + 1;
    const problem = fault === undefined ? undefined : problemOf(fault);
    if (fault !== undefined) {
      log({ level: 'warn', event: 'trigger.stream-lost', triggerId, failures, problem, ...describeError(fault) });
    }
    await place.report({ state: 'waiting', failures, ...(problem !== undefined && { problem }) }).catch(() => {});
    const policy = { ...BACKOFF, delayMs: pause.ms };
    const asked = fault instanceof StreamFault ? fault.askedMs : undefined;
    await sleep(clock, retryDelay(policy, Math.max(failures, 1), asked, random), signal).catch(() => {});
  }
}

/** Makes one connection, and reads it to its end. */
async function readOnce(
  options: ReadStreamsOptions,
  { triggerId }: StreamTrigger,
  place: HeldPlace,
  pause: { ms: number },
  signal: AbortSignal,
): Promise<'for-good' | 'inactive' | 'ended'> {
  const { store, open, secrets, clock } = options;
  const trigger = await store.triggers.read(triggerId);
  if (trigger?.source !== 'stream' || trigger.state !== 'active') return 'inactive';
  const { stream } = trigger;
  const secret = stream.credential === undefined ? '' : openTriggerSecrets(secrets, trigger).current;
  const { url, headers } = streamRequest(stream, place.cursor, secret);
  const connection = new AbortController();
  const response = await open(url, { headers, signal: AbortSignal.any([signal, connection.signal]) });
  try {
    if (isEnded(response, stream, clock.now())) return 'for-good';
    if (place.reading.state !== 'reading') {
      const { failures, problem } = place.reading;
      await place.report({ state: 'reading', failures, ...(problem !== undefined && { problem }) });
    }
    return await readConnection(options, trigger, place, {
      body: response.body,
      signal,
      drop: () => connection.abort(),
      onRetry: (ms) => {
        pause.ms = Math.min(Math.max(ms, LEAST_RETRY_MS), BACKOFF.maxDelayMs);
      },
    });
  } finally {
    response.close();
  }
}

/** Pauses the trigger: a resume reads the stream again from its cursor. */
async function endForGood(options: ReadStreamsOptions, trigger: StreamTrigger, place: HeldPlace): Promise<void> {
  const { store, clock, recordAudit, log } = options;
  const { triggerId } = trigger;
  try {
    await store.transaction(async (transaction) => {
      await place.move(place.cursor, transaction);
      const at = clock.now();
      const after = await store.triggers.change(
        triggerId,
        (found) =>
          found.state === 'active'
            ? { ...found, state: 'paused', stateReason: 'source-removed', updatedAt: at }
            : undefined,
        transaction,
      );
      if (after === undefined) return;
      const details = { from: 'active', to: 'paused', cause: 'source-removed' };
      await recordAudit(factAboutTrigger(trigger, { action: 'trigger.state', at, details }), transaction);
    });
    log({ level: 'info', event: 'trigger.stream-ended', triggerId });
  } catch (error) {
    log({ level: 'warn', event: 'trigger.stream-end-failed', triggerId, ...describeError(error) });
  }
}

/** The reason that the owner of the trigger reads. That of the guard tells nothing about the network of the host. */
function problemOf(error: unknown): string {
  if (error instanceof NoRoom) return error.message;
  if (error instanceof StreamFault) return `stream: ${error.message}`;
  if (EgressError.is(error)) return `stream: ${PROBLEMS[error.code]}`;
  if (HostError.is(error)) return 'host: could not take a message. It reads the message again';
  return 'host: a fault of the host ended the connection';
}

const PROBLEMS: Readonly<Record<EgressError['code'], string>> = {
  url_rejected: 'its URL, or that of a redirect, is not allowed',
  destination_unavailable: 'the destination is not available',
  tls_failed: 'the TLS certificate of the destination is not trusted',
  timeout: 'the server was silent for too long',
  aborted: 'the server was silent for too long',
  response_too_large: 'the response is too large',
  response_encoded: 'the response is compressed',
  redirect_refused: 'the server redirects too often',
  protocol_error: 'the connection broke off',
};

const DEFAULT_RETRY_MS = 3000;
const LEAST_RETRY_MS = 500;
const BACKOFF = { maxAttempts: 1, backoff: 'exponential', maxDelayMs: 300_000 } as const;
