import { mintId } from '@svc/versioning/ids';
import { storeUnavailable } from '../errors.ts';
import type { Json, JsonObject } from '../json.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { Trigger, TriggerMessage, TriggerOf } from '../ports/triggers.ts';
import { attemptStart, endMessage, type StartOptions, type StoreMessage, waitingMessage } from './start.ts';
import { isOfTypes, storedDedupKey, webhookDocument } from './webhook/message.ts';
import type { AuthenticWebhook } from './webhook/presets.ts';

/** A taken message. `isRepeated`: it was there before, and this request changed nothing. */
export type Taken =
  | { readonly kind: 'taken'; readonly message: TriggerMessage; readonly isRepeated: boolean }
  | { readonly kind: 'ignored' };

/**
 * Takes an authentic message of a source. When it resolves, the message is durable, together with its run: the source need
 * not send it again. A message whose key is known changes nothing.
 *
 * @throws {HostError} `service_unavailable` when too many messages of the trigger wait, or a part of the host is away: the
 *   source must send the message again
 */
export async function receiveMessage(
  options: StartOptions,
  trigger: TriggerOf<'webhook'>,
  authentic: Extract<AuthenticWebhook, { kind: 'message' }>,
): Promise<Taken> {
  const { webhook } = trigger;
  if (!isOfTypes(webhook, authentic.type)) {
    options.counted('webhook', 'ignored');
    return { kind: 'ignored' };
  }
  return takeMessage(options, trigger, {
    deliveryId: mintId('dlv', options.storeClock.now, options.random),
    dedupKey: storedDedupKey(webhook, authentic),
    document: (facts) => webhookDocument(authentic, facts),
  });
}

/** An authentic message of any source. */
export interface IncomingMessage extends Pick<TriggerMessage, 'deliveryId' | 'dedupKey'> {
  /**
   * Makes the document that the mapping reads. `receivedAt` is in ms since the epoch, by the clock of the host. Absent: the content
   * cannot be read.
   */
  readonly document?: (facts: { readonly deliveryId: string; readonly receivedAt: number }) => JsonObject;
  /** The reason why the message can start no run: it becomes a dead letter. Without content of the message. */
  readonly problem?: string;
  /** Is called in the transaction that stores the message, and not for a repeated message. A rejection undoes the transaction. */
  readonly also?: (transaction: Transaction) => Promise<void>;
}

/** Takes an authentic message of any source. @throws {HostError} as `receiveMessage` */
export async function takeMessage(
  options: StartOptions,
  trigger: Trigger,
  { deliveryId, dedupKey, document, problem, also }: IncomingMessage,
): Promise<Extract<Taken, { kind: 'taken' }>> {
  const { store, clock, storeClock, limits } = options;
  const { triggerId } = trigger;
  const now = await storeClock.read();
  const message: TriggerMessage = {
    triggerId,
    deliveryId,
    dedupKey,
    outcome: 'retrying',
    attempts: 0,
    receivedAt: now,
    updatedAt: now,
    expiresAt: now + limits.deadLetterMs,
    ...(document !== undefined && { document: document({ deliveryId, receivedAt: clock.now() }) }),
  };
  let before: TriggerMessage | undefined;
  const take: StoreMessage = async (taken, transaction) => {
    before = await store.triggers.take(taken, transaction);
    if (before === undefined) await also?.(transaction);
    return before;
  };
  const stored = await settled();
  // `take` loses to no other host: it finds the message that was there before.
  if (stored === undefined) throw storeUnavailable();
  const isRepeated = before !== undefined;
  options.counted(trigger.source, isRepeated ? 'repeated' : stored.outcome);
  return { kind: 'taken', message: stored, isRepeated };

  async function settled(): Promise<TriggerMessage | undefined> {
    if (problem !== undefined) return endMessage(options, trigger, { ...message, attempts: 1 }, problem, take);
    return trigger.state === 'paused' ? await wait() : await attemptStart(options, trigger, message, take);
  }

  async function wait(): Promise<TriggerMessage> {
    const { maxWaiting } = limits;
    if ((await store.triggers.countWaiting(triggerId, maxWaiting)) >= maxWaiting) throw storeUnavailable();
    const waiting = waitingMessage(options, message);
    await store.transaction((transaction) => take(waiting, transaction));
    return before ?? waiting;
  }
}

/** A message as an operator tries it. */
export interface TriedMessage {
  /** Undefined for a schedule, whose occurrences have none. */
  readonly body: Json | undefined;
  readonly type: string | undefined;
}
