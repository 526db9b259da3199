import { timingSafeEqual } from 'node:crypto';
import type { Principal } from '@svc/auth';
import { secretFingerprint } from '@svc/webhook-verify';
import type { ChangeServices } from '../audit/change-services.ts';
import { factAbout } from '../audit/fact.ts';
import { HostError, invalid } from '../errors.ts';
import { type Save, saveNothing } from '../ports/idempotency.ts';
import type { Subscription, SubscriptionSecrets } from '../ports/subscriptions.ts';
import type { SecretBox } from '../sealing/secret-box.ts';
import type { Announce, Announcement } from './announce.ts';
import type { Dispatcher } from './dispatcher.ts';
import { managed } from './operator-actions.ts';

export interface RotateOptions extends ChangeServices {
  readonly secrets: SecretBox;
  /** How long the replaced secret stays valid, in seconds. */
  readonly overlapSeconds: number;
  readonly announce: Announce;
  readonly dispatcher: Pick<Dispatcher, 'wake'>;
}

/** The times of a rotation, in ms since the epoch. */
export interface Rotated {
  readonly rotatedAt: number;
  readonly previousSecretExpiresAt: number;
}

/**
 * Replaces the secret of a Standard Webhooks subscription. The replaced secret stays valid for the overlap; a secret
 * that was replaced earlier expires at once. A repetition with the same new secret changes nothing.
 *
 * @param secret `whsec_…`
 * @param save is called in the transaction of the change
 * @throws {HostError} as `managed`; `validation_error` for a subscription without Standard Webhooks, and for its
 * current secret outside of an overlap
 */
export async function rotateSecret(
  { store, clock, secrets, overlapSeconds, recordAudit, announce, dispatcher }: RotateOptions,
  principal: Principal,
  webhookId: string,
  secret: string,
  save: Save<Rotated> = saveNothing,
): Promise<Rotated> {
  const { tenant, signatureAlgorithms } = await managed(store, principal, webhookId);
  if (!signatureAlgorithms.includes('standard-webhooks-1')) throw notRotatable();
  const result = await store.transaction(async (transaction) => {
    const now = clock.now();
    let rotated: Rotated | undefined;
    let isRepeated = false;
    let subject: Subscription | undefined;
    const change = (current: Subscription): SubscriptionSecrets => {
      subject = current;
      isRepeated = isSame(secrets.open(current.sealedSecret, webhookId), secret);
      if (isRepeated) {
        rotated = rotationUnderWay(current, now);
        return current;
      }
      rotated = { rotatedAt: now, previousSecretExpiresAt: now + overlapSeconds * 1000 };
      return {
        sealedSecret: secrets.seal(secret, webhookId),
        secretFingerprint: secretFingerprint(secret),
        previousSecret: { sealed: current.sealedSecret, replacedAt: now, expiresAt: rotated.previousSecretExpiresAt },
      };
    };
    await store.subscriptions.updateSecrets(webhookId, change, transaction);
    if (isRepeated && rotated === undefined) throw unchanged();
    if (rotated === undefined) throw gone();
    await save(rotated, transaction);
    const target = `${tenant}/${webhookId}`;
    const details = { overlapSeconds };
    const fact = factAbout(principal, { action: 'webhook.rotate-secret', target, at: now, details });
    if (!isRepeated) await recordAudit(fact, transaction);
    if (!isRepeated && subject !== undefined) await announce([rotationOf(subject, rotated)], transaction);
    return rotated;
  });
  dispatcher.wake();
  return result;
}

function rotationOf(subject: Subscription, { previousSecretExpiresAt }: Rotated): Announcement {
  const details = { previousSecretExpiresAt: new Date(previousSecretExpiresAt).toISOString() };
  return { subject, name: 'subscription.secret-rotated', details };
}

function isSame(secret: string, other: string): boolean {
  const [a, b] = [Buffer.from(secret), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function rotationUnderWay({ previousSecret }: Subscription, now: number): Rotated | undefined {
  if (previousSecret === undefined || previousSecret.expiresAt <= now) return undefined;
  return { rotatedAt: previousSecret.replacedAt, previousSecretExpiresAt: previousSecret.expiresAt };
}

function notRotatable(): HostError {
  const problem = 'cannot be replaced, because the subscription does not use standard-webhooks-1; register it again';
  return invalid({ field: 'secret', problem });
}

function unchanged(): HostError {
  return invalid({ field: 'secret', problem: 'is the current secret of the subscription; send a new one' });
}

/** The subscription was removed after it was looked up. */
function gone(): HostError {
  return new HostError('not_found', 'There is no such subscription.', { details: undefined });
}
