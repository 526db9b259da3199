import { AuthError } from '@svc/auth';
import { factAboutTrigger } from '../audit/fact.ts';
import { HostError } from '../errors.ts';
import type { Executor } from '../execution/executor.ts';
import { describeError, type Log } from '../ports/log.ts';
import type { Run } from '../ports/runs.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { MessageOutcome, Trigger, TriggerMessage } from '../ports/triggers.ts';
import { type CreateRunOptions, createRun } from '../runs/create.ts';
import { retryDelay } from '../webhooks/retry.ts';
import type { TellUnheard } from '../webhooks/unheard-runs.ts';
import { attachmentArtifacts } from './attachments.ts';
import { countStart, QuotaUsedUp } from './count-start.ts';
import { mapped } from './mapping.ts';
import { type StandingOptions, standingOfRegistrar } from './standing.ts';
import { takesMessages, triggerStateAfter } from './transitions.ts';

export interface StartOptions extends CreateRunOptions, StandingOptions {
  readonly storeClock: Pick<StoreClock, 'now' | 'read'>;
  readonly executor: Pick<Executor, 'execute'>;
  readonly tellUnheard: TellUnheard;
  readonly log: Log;
  readonly limits: TriggerLimits;
  /** Is told of each outcome of a message or an occurrence. */
  readonly counted: MessageCounted;
}

/**
 * Counts an outcome. `repeated`: the message was taken before. `refused`: an email starts no run. `ignored`: its type starts no run. `skipped`: occurrences of a schedule
 * were passed over, counted once.
 */
export type MessageCounted = (
  source: Trigger['source'],
  outcome: MessageOutcome | 'repeated' | 'ignored' | 'skipped' | 'refused',
) => void;

/** The limits of triggers and of their messages. */
export interface TriggerLimits {
  /** The time for which a message is recognised, in ms. */
  readonly dedupMs: number;
  /** The time for which a dead letter is stored, in ms. */
  readonly deadLetterMs: number;
  /** The most characters of JSON that the inputs of a run take from a message. */
  readonly maxInputLength: number;
  /** The most messages of one trigger that wait. */
  readonly maxWaiting: number;
  /** The most dead letters of one trigger. */
  readonly maxDeadLetters: number;
  /** The messages in a row whose attempts are exhausted that mark a trigger failed. */
  readonly failAfter: number;
}

/**
 * Stores the message, or its change, in a transaction. Returns the message that was there before it, if this one changes
 * nothing.
 */
export type StoreMessage = (
  message: TriggerMessage,
  transaction: Transaction,
) => Promise<TriggerMessage | 'lost' | undefined>;

/**
 * Makes one attempt to start the run of a message. The run, the message, the request that it takes from the quota of the
 * registrar's key, and the audit facts are one transaction: after a crash all of them are durable or none is.
 *
 * @returns the message as it is stored: `delivered` with its run; `dead-lettered` when the trigger, its registrar or the
 *   engine refuses it, or its attempts are exhausted; `retrying`, also while the quota is used up. Undefined when another host has changed it meanwhile.
 * @throws {HostError} `service_unavailable` of the parts of the host
 * @throws {Error} when the store fails: nothing is stored
 */
export async function attemptStart(
  options: StartOptions,
  trigger: Trigger,
  message: TriggerMessage,
  storeMessage: StoreMessage,
): Promise<TriggerMessage | undefined> {
  const { store, executor, storeClock } = options;
  const attempted = { ...message, attempts: message.attempts + 1, updatedAt: storeClock.now() };
  if (!takesMessages(trigger.state)) return endMessage(options, trigger, attempted, FAILED_TRIGGER, storeMessage);
  const standing = await standingOfRegistrar(options, trigger);
  if (!standing.ok) return endMessage(options, trigger, attempted, standing.problem, storeMessage);
  if (message.document === undefined) return endMessage(options, trigger, attempted, UNREAD, storeMessage);
  const { document } = message;
  const target = mapped(trigger.mapping, document, options.limits.maxInputLength);
  if (!target.ok) return endMessage(options, trigger, attempted, target.problem, storeMessage);

  let stored: TriggerMessage | undefined;
  try {
    const request = {
      workflowId: target.workflowId,
      inputs: target.inputs,
      scope: trigger.workspace,
      ...{ configurable: undefined, tags: [], metadata: undefined },
      causationId: message.deliveryId,
    };
    const run = await createRun(options, standing.principal, request, async (started, transaction) => {
      await requireStarting(options, trigger, transaction);
      stored = deliveredMessage(options, attempted, started);
      const found = await storeMessage(stored, transaction);
      if (found !== undefined) throw new Repeated(found);
      for (const file of attachmentArtifacts(document, started)) await store.artifacts.insert(file, transaction);
      await countStart(options, standing.principal, transaction);
    });
    await options.tellUnheard(run);
    executor.execute(run);
    return stored;
  } catch (error) {
    if (error instanceof Repeated) return error.found;
    if (error instanceof StateChanged) return storedAs(options, waitingMessage(options, message), storeMessage);
    if (error instanceof QuotaUsedUp) return waitForQuota(options, trigger, attempted, error.renewsAt, storeMessage);
    if (isRefusal(error)) return endMessage(options, trigger, attempted, refusalText(error), storeMessage);
    if (store.isUnavailable?.(error) === true || HostError.is(error)) throw error;
    const { deliveryId, triggerId } = message;
    options.log({ level: 'error', event: 'trigger.start-failed', triggerId, deliveryId, ...describeError(error) });
    return retry(options, trigger, attempted, storeMessage);
  }
}

const UNREAD = 'message: its content could not be read. Send it again';
const FAILED_TRIGGER = 'trigger: has failed. Register it again';

/** Thrown to undo the run of a message that is stored already, or that another host has changed. */
class Repeated extends Error {
  readonly found: TriggerMessage | undefined;

  constructor(found: TriggerMessage | 'lost') {
    super('The message is stored already.');
    this.found = found === 'lost' ? undefined : found;
  }
}

/** Thrown to undo the run of a trigger that was paused, removed or failed meanwhile. */
class StateChanged extends Error {}

/**
 * Also resets the failures of the trigger. Two transactions that both hold a trigger and then change it would wait for each
 * other, so each does one of the two.
 */
async function requireStarting(
  { store }: StartOptions,
  { triggerId, failures }: Trigger,
  transaction: Transaction,
): Promise<void> {
  const held =
    failures > 0
      ? await store.triggers.change(triggerId, withoutFailures, transaction)
      : await store.triggers.hold(triggerId, transaction);
  if (held?.state !== 'active') throw new StateChanged('The trigger was changed meanwhile.');
}

/** Refusals of the request for a run. They are the same at every attempt. */
function isRefusal(error: unknown): error is HostError | AuthError {
  return (HostError.is(error) && error.status < 500) || AuthError.is(error);
}

/** Names the refused field, and nothing that the message contains: below an input, names of members come from it. */
function refusalText(error: HostError | AuthError): string {
  const { details } = error;
  const fields = details !== undefined && 'fields' in details ? details.fields : [];
  const [first] = Array.isArray(fields) ? fields : [];
  return first === undefined ? `run: was refused with ${error.code}` : refusedAt(String(first.field));
}

/** The reason why an engine refused a run, without the part of the field that a message could have named. */
export function refusedAt(field: string): string {
  const [known = ''] = /^[A-Za-z0-9_-]{1,64}(?:\.[A-Za-z0-9_-]{1,64})?/.exec(field) ?? [];
  return known === '' ? 'run: was refused' : `run: was refused at ${known}`;
}

function deliveredMessage({ limits }: StartOptions, message: TriggerMessage, run: Run): TriggerMessage {
  const { document: _, nextAttemptAt: _next, problem: _problem, ...kept } = message;
  const expiresAt = Math.max(message.receivedAt + limits.dedupMs, message.updatedAt);
  return { ...kept, outcome: 'delivered', runId: run.runId, expiresAt };
}

/** A message of a paused trigger. It is stored for as long as a dead letter. */
export function waitingMessage({ limits, storeClock }: StartOptions, message: TriggerMessage): TriggerMessage {
  const now = storeClock.now();
  return { ...message, outcome: 'retrying', updatedAt: now, expiresAt: now + limits.deadLetterMs, nextAttemptAt: now };
}

async function retry(
  options: StartOptions,
  trigger: Trigger,
  message: TriggerMessage,
  storeMessage: StoreMessage,
): Promise<TriggerMessage | undefined> {
  const { maxAttempts, backoff } = trigger.retryPolicy;
  if (message.attempts >= maxAttempts)
    return endMessage(options, trigger, message, EXHAUSTED, storeMessage, 'exhausted');
  const delay = retryDelay({ maxAttempts, backoff, ...DELAYS }, message.attempts, undefined, options.random);
  const waiting = { ...waitingMessage(options, message), problem: FAULT, nextAttemptAt: message.updatedAt + delay };
  return storedAs(options, waiting, storeMessage);
}

/**
 * Plans the next attempt for the time at which the quota renews, or in a minute if that is earlier: the quota may be raised.
 * A message whose attempts are exhausted, or that finds too many others waiting, becomes a dead letter. It says nothing about
 * the trigger.
 */
async function waitForQuota(
  options: StartOptions,
  trigger: Trigger,
  message: TriggerMessage,
  renewsAt: number,
  storeMessage: StoreMessage,
): Promise<TriggerMessage | undefined> {
  const { store, limits } = options;
  const { triggerId, retryPolicy } = trigger;
  const problem = `registrar: the quota of its API key is used up until ${new Date(renewsAt).toISOString()}`;
  const isFirst = message.attempts === 1;
  const isFull = isFirst && (await store.triggers.countWaiting(triggerId, limits.maxWaiting)) >= limits.maxWaiting;
  if (isFull) return endMessage(options, trigger, message, `${problem}. Too many messages wait`, storeMessage);
  if (message.attempts >= retryPolicy.maxAttempts)
    return endMessage(options, trigger, message, `${problem}. Every attempt failed`, storeMessage);
  const nextAttemptAt = Math.min(renewsAt + QUOTA_MARGIN_MS, message.updatedAt + QUOTA_DELAY_MS);
  return storedAs(options, { ...waitingMessage(options, message), problem, nextAttemptAt }, storeMessage);
}

const QUOTA_DELAY_MS = 60_000;
/** The clocks of hosts differ. */
const QUOTA_MARGIN_MS = 1000;

const DELAYS = { delayMs: 250, maxDelayMs: 30_000 };
const FAULT = 'run: could not be started because of a fault of the host or its engine';
const EXHAUSTED = `${FAULT}. Every attempt failed`;

async function storedAs(
  { store }: StartOptions,
  message: TriggerMessage,
  storeMessage: StoreMessage,
): Promise<TriggerMessage | undefined> {
  const found = await store.transaction((transaction) => storeMessage(message, transaction));
  return found === undefined ? message : found === 'lost' ? undefined : found;
}

/**
 * Stores the message as a dead letter, with its audit fact and the transition that it causes.
 *
 * @returns the message as it is stored, or the one that was there before; undefined when another host has changed it meanwhile
 * @throws {Error} when the store fails: nothing is stored
 */
export async function endMessage(
  options: StartOptions,
  trigger: Trigger,
  message: TriggerMessage,
  problem: string,
  storeMessage: StoreMessage,
  cause: 'refused' | 'exhausted' = 'refused',
): Promise<TriggerMessage | undefined> {
  const { store, recordAudit, clock, limits } = options;
  const { nextAttemptAt: _, ...kept } = message;
  const expiresAt = message.updatedAt + limits.deadLetterMs;
  const letter: TriggerMessage = { ...kept, outcome: 'dead-lettered', problem, expiresAt };
  const { triggerId } = trigger;
  return store.transaction(async (transaction) => {
    const found = await storeMessage(letter, transaction);
    if (found !== undefined) return found === 'lost' ? undefined : found;
    const at = clock.now();
    let before: Trigger | undefined;
    const after = await store.triggers.change(
      triggerId,
      (current) => {
        before = current;
        return afterDeadLetter(current, cause, limits.failAfter, at);
      },
      transaction,
    );
    // After the change, which other letters of the trigger wait for: of two that trim at once, each sees the letter of the other.
    const dropped = await store.triggers.trimDeadLetters(triggerId, limits.maxDeadLetters, transaction);
    const letterDetails = { delivery: message.deliveryId, cause, ...(dropped > 0 && { dropped }) };
    const fact = factAboutTrigger(trigger, { action: 'trigger.dead-letter', at, details: letterDetails });
    await recordAudit(fact, transaction);
    if (after !== undefined && after.state !== before?.state) {
      const details = { from: before?.state ?? 'active', to: after.state };
      await recordAudit(factAboutTrigger(trigger, { action: 'trigger.state', at, details }), transaction);
    }
    return letter;
  });
}

function withoutFailures(trigger: Trigger): Trigger {
  return { ...trigger, failures: 0 };
}

/**
 * Returns a trigger after a dead letter; undefined when it stays as it is. A refused message says nothing about the
 * trigger. Exhausted attempts count, and a message after the failure is the end of the trigger.
 */
function afterDeadLetter(
  trigger: Trigger,
  cause: 'refused' | 'exhausted',
  failAfter: number,
  now: number,
): Trigger | undefined {
  const reason = { stateReason: 'retry-exhausted', updatedAt: now } as const;
  if (trigger.state === 'failed') return { ...trigger, ...reason, state: 'dead-lettered' };
  if (cause === 'refused') return undefined;
  const failures = trigger.failures + 1;
  const next = failures >= failAfter ? triggerStateAfter(trigger.state, 'fail') : undefined;
  return next === undefined ? { ...trigger, failures } : { ...trigger, ...reason, failures, state: next };
}
