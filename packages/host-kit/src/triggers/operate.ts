import type { Principal } from '@svc/auth';
import type { ChangeServices } from '../audit/change-services.ts';
import { type AuditAction, factAbout } from '../audit/fact.ts';
import { HostError, invalid } from '../errors.ts';
import type { Lookup } from '../lookup.ts';
import { type Save, saveNothing } from '../ports/idempotency.ts';
import type { Random } from '../ports/random.ts';
import type { Store } from '../ports/store.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { Transaction } from '../ports/transaction.ts';
import type {
  EmailSource,
  FormSource,
  ScheduleSource,
  StreamSource,
  Trigger,
  TriggerMessage,
} from '../ports/triggers.ts';
import type { SecretBox } from '../sealing/secret-box.ts';
import { mintedSecret } from './register.ts';
import { prepareBegin } from './schedule/begin.ts';
import { openTriggerSecrets, sealTriggerSecrets } from './secrets.ts';
import { takesMessages, triggerStateAfter } from './transitions.ts';

/**
 * Finds a trigger that the caller may manage: one of its tenant and mode, in a workspace that it reaches.
 *
 * @throws {HostError} `not_found`, or `forbidden` when it belongs to a workspace that the caller does not reach
 */
export async function managedTrigger(store: Store, { tenancy }: Principal, triggerId: string): Promise<Trigger> {
  return foundIn(await store.triggers.find(tenancy, triggerId));
}

/** The members of a trigger that an edit changes. An absent member stays. */
export type TriggerEdit = Partial<Pick<Trigger, 'mapping' | 'retryPolicy'>> & {
  /** Null removes the types: every type starts a run. */
  readonly types?: readonly string[] | null;
  /** The rules of a schedule. Its next occurrence is the first one after the edit. */
  readonly schedule?: ScheduleSource;
  /** The rules of a form. */
  readonly form?: FormSource;
  /** The rules of an email. */
  readonly email?: EmailSource;
  /** Null removes the description. */
  readonly description?: string | null;
};

export interface MoveTriggerOptions extends ChangeServices {
  /** Schedules are due by it. */
  readonly storeClock: Pick<StoreClock, 'read'>;
}

/**
 * Edits a trigger. Messages that wait already are mapped by the new rules.
 *
 * @throws {HostError} as `managedTrigger`; `validation_error` for rules of another source, or a schedule that is not valid
 */
export async function editTrigger(
  options: MoveTriggerOptions,
  principal: Principal,
  triggerId: string,
  { description, types, schedule, form, email, ...edit }: TriggerEdit,
): Promise<Trigger> {
  const { storeClock } = options;
  const { source } = await managedTrigger(options.store, principal, triggerId);
  requireSource(source, OWNERS, { types, schedule, form, email });
  const begin = await prepareBegin(source, () => storeClock.read());
  return changed(options, principal, triggerId, 'trigger.edit', ({ description: former, ...trigger }) => {
    const note = description === undefined ? former : (description ?? undefined);
    const edited = { ...trigger, ...edit, ...(note !== undefined && { description: note }) };
    if (edited.source === 'webhook' && types !== undefined) {
      const { types: _, ...webhook } = edited.webhook;
      return { ...edited, webhook: { ...webhook, ...(types !== null && { types }) } };
    }
    if (edited.source === 'form' && form !== undefined) return { ...edited, form };
    if (edited.source === 'email' && email !== undefined) return { ...edited, email };
    if (edited.source !== 'schedule' || schedule === undefined) return edited;
    const { next: _, ...stopped } = edited;
    const begins = begin(triggerId, { source: 'schedule', schedule });
    return edited.state === 'active' ? { ...stopped, ...begins } : { ...stopped, schedule };
  });
}

/** The source of each member that belongs to one alone. */
const OWNERS = { types: 'webhook', schedule: 'schedule', form: 'form', email: 'email' } as const;

/** Refuses members that belong to another source. */
function requireSource(
  source: Trigger['source'],
  owners: Readonly<Record<string, Trigger['source']>>,
  members: Readonly<Record<string, unknown>>,
): void {
  for (const [member, owner] of Object.entries(owners)) {
    if (members[member] === undefined || owner === source) continue;
    throw invalid({
      field: member,
      problem: `belongs to the source ${owner}, and this trigger has the source ${source}`,
    });
  }
}

/**
 * Pauses or resumes a trigger. A repetition changes nothing. A paused schedule has no next occurrence; a resumed one goes on with
 * the first one after the resume.
 *
 * @throws {HostError} as `managedTrigger`; `subscription_state_conflict` when the trigger has failed
 */
export async function moveTrigger(
  options: MoveTriggerOptions,
  principal: Principal,
  triggerId: string,
  signal: 'pause' | 'resume',
): Promise<Trigger> {
  const { store, storeClock } = options;
  const { source } = await managedTrigger(store, principal, triggerId);
  const begin = await prepareBegin(source, () => storeClock.read());
  return changed(options, principal, triggerId, `trigger.${signal}`, (trigger) => {
    const state = triggerStateAfter(trigger.state, signal);
    if (state === undefined) throw failed();
    if (state === trigger.state) return trigger;
    const { stateReason: _, ...kept } = trigger;
    const moved = { ...kept, state, ...(state === 'paused' && { stateReason: 'operator-paused' as const }) };
    if (moved.source !== 'schedule') return moved;
    const { next: _next, ...stopped } = moved;
    return state === 'active' ? { ...stopped, ...begin(triggerId, stopped) } : stopped;
  });
}

/** Removes a trigger. No message of it starts a run afterwards. @throws {HostError} as `managedTrigger` */
export async function removeTrigger(
  { store, clock, recordAudit }: ChangeServices,
  principal: Principal,
  triggerId: string,
): Promise<void> {
  await store.transaction(async (transaction) => {
    const trigger = foundIn(await store.triggers.remove(principal.tenancy, triggerId, transaction));
    await recordAudit(factOf(principal, trigger, 'trigger.remove', clock.now()), transaction);
  });
}

export interface RotateTriggerOptions extends ChangeServices {
  readonly random: Random;
  readonly secrets: SecretBox;
  /** The time for which the replaced secret is accepted, in ms. */
  readonly overlapMs: number;
}

/** A rotated trigger with its new secret. */
export interface RotatedTrigger {
  readonly trigger: Trigger;
  readonly secret: string;
  /** In ms since the epoch. */
  readonly previousSecretExpiresAt: number;
}

/**
 * Replaces the secret of a trigger. The replaced secret is accepted until the overlap ends; one that was replaced before it
 * is not accepted any more. A repetition with the current secret changes nothing. The credential of a stream is replaced at once.
 *
 * @param brought the new secret of the sender. Undefined: the host generates one
 * @param save is called in the transaction of the change
 * @throws {HostError} as `managedTrigger`; `validation_error` for a trigger without a sender, a relay and a credential, and
 *   for a credential that the caller does not bring
 */
export async function rotateTriggerSecret(
  options: RotateTriggerOptions,
  principal: Principal,
  triggerId: string,
  brought: string | undefined,
  save: Save<RotatedTrigger> = saveNothing,
): Promise<RotatedTrigger> {
  const { random, secrets, clock, overlapMs } = options;
  let secret = brought ?? '';
  let previousSecretExpiresAt = clock.now() + overlapMs;
  const replace = (current: Trigger): Trigger => {
    if (current.source === 'stream') {
      secret = broughtCredential(current.stream, brought);
      previousSecretExpiresAt = clock.now();
      return { ...current, ...sealTriggerSecrets(secrets, triggerId, { current: secret }) };
    }
    if (current.source !== 'webhook' && current.source !== 'email') throw withoutSender();
    const { current: replaced, previous } = openTriggerSecrets(secrets, current);
    secret = brought ?? mintedSecret(current.source === 'webhook' ? current.webhook.preset : 'hmac', random);
    if (secret === replaced) {
      previousSecretExpiresAt = previous?.expiresAt ?? clock.now();
      return current;
    }
    const kept = { secret: replaced, expiresAt: previousSecretExpiresAt };
    return { ...current, ...sealTriggerSecrets(secrets, triggerId, { current: secret, previous: kept }) };
  };
  const rotated = (trigger: Trigger): RotatedTrigger => ({ trigger, secret, previousSecretExpiresAt });
  return rotated(
    await changed(options, principal, triggerId, 'trigger.rotate-secret', replace, (trigger, transaction) =>
      save(rotated(trigger), transaction),
    ),
  );
}

export interface RedriveTriggerOptions extends ChangeServices {
  readonly storeClock: Pick<StoreClock, 'read'>;
}

/**
 * Makes dead letters of a trigger due again, as if they had just been received: the named ones, or the newest 500.
 *
 * @returns their number
 * @throws {HostError} as `managedTrigger`; `subscription_state_conflict` when the trigger has failed
 */
export async function redriveTrigger(
  { store, clock, storeClock, recordAudit }: RedriveTriggerOptions,
  principal: Principal,
  triggerId: string,
  deliveryIds: readonly string[] | undefined,
): Promise<number> {
  const trigger = await managedTrigger(store, principal, triggerId);
  if (!takesMessages(trigger.state)) throw failed();
  const now = await storeClock.read();
  const letters = await lettersOf(store, triggerId, deliveryIds, now);
  return store.transaction(async (transaction) => {
    let redriven = 0;
    for (const letter of letters) {
      if (await store.triggers.settle(letter, dueAgain(letter, now), transaction)) redriven++;
    }
    const fact = factOf(principal, trigger, 'trigger.redrive', clock.now(), { deliveries: redriven });
    if (redriven > 0) await recordAudit(fact, transaction);
    return redriven;
  });
}

/** The named dead letters of a trigger, however old they are, or its newest ones. */
async function lettersOf(
  store: Store,
  triggerId: string,
  deliveryIds: readonly string[] | undefined,
  now: number,
): Promise<readonly TriggerMessage[]> {
  const page = { outcome: 'dead-lettered', now } as const;
  if (deliveryIds === undefined)
    return store.triggers.messages(triggerId, { ...page, before: undefined, limit: MOST_REDRIVEN });
  const letters: TriggerMessage[] = [];
  for (const id of new Set(deliveryIds)) {
    // `~` comes after every character of an id, so the page begins with the message itself.
    const found = await store.triggers.messages(triggerId, { ...page, before: `${id}~`, limit: 1 });
    letters.push(...found.filter(({ deliveryId }) => deliveryId === id));
  }
  return letters;
}

/** It keeps its expiry: a message that is redriven again and again still ends. */
function dueAgain({ problem: _, ...letter }: TriggerMessage, now: number): TriggerMessage {
  return { ...letter, outcome: 'retrying', attempts: 0, updatedAt: now, nextAttemptAt: now };
}

const MOST_REDRIVEN = 500;

/** Changes a trigger in one transaction with its audit fact. A change that returns the same trigger is recorded, too. */
async function changed(
  { store, clock, recordAudit }: ChangeServices,
  principal: Principal,
  triggerId: string,
  action: AuditAction,
  change: (trigger: Trigger) => Trigger,
  save: Save<Trigger> = saveNothing,
): Promise<Trigger> {
  await managedTrigger(store, principal, triggerId);
  const now = clock.now();
  return store.transaction(async (transaction: Transaction) => {
    const after = await store.triggers.change(
      triggerId,
      (trigger) => ({ ...change(trigger), updatedAt: now }),
      transaction,
    );
    if (after === undefined) throw absent();
    await recordAudit(factOf(principal, after, action, now), transaction);
    await save(after, transaction);
    return after;
  });
}

function factOf(
  principal: Principal,
  { tenant, triggerId, workspace }: Trigger,
  action: AuditAction,
  at: number,
  details: { readonly deliveries?: number } = {},
) {
  return factAbout(principal, { action, target: `${tenant}/${triggerId}`, at, workspace, details });
}

function foundIn(lookup: Lookup<Trigger>): Trigger {
  if (lookup.kind === 'found') return lookup.value;
  if (lookup.kind === 'absent') throw absent();
  throw new HostError('forbidden', 'The trigger belongs to a workspace that this credential does not reach.', {
    details: undefined,
  });
}

function absent(): HostError {
  return new HostError('not_found', 'There is no such trigger.', { details: undefined });
}

/** The host cannot generate the credential of another server. */
function broughtCredential({ credential }: StreamSource, brought: string | undefined): string {
  if (credential === undefined) throw withoutSender();
  if (brought === undefined) throw invalid({ field: 'secret', problem: 'must be the new credential of the stream' });
  return brought;
}

function withoutSender(): HostError {
  return invalid({ field: 'triggerId', problem: 'names a trigger without a sender, which has no secret to rotate' });
}

function failed(): HostError {
  const message = 'The trigger has failed and starts no more runs. Register it again.';
  return new HostError('subscription_state_conflict', message, { details: undefined });
}
