import { createHash } from 'node:crypto';
import type { Trigger, TriggerSecrets } from '../ports/triggers.ts';
import type { SecretBox } from '../sealing/secret-box.ts';

/** Encrypts the secrets of a trigger, and digests the current one. */
export function sealTriggerSecrets(
  secrets: SecretBox,
  triggerId: string,
  content: TriggerSecrets,
): Pick<Trigger, 'sealedSecrets' | 'secretFingerprint'> {
  return {
    sealedSecrets: secrets.seal(JSON.stringify(content), triggerId),
    secretFingerprint: fingerprintOf(triggerId, content.current),
  };
}

/** Opens the secrets of a trigger. @throws {Error} when the host lacks their key */
export function openTriggerSecrets(
  secrets: SecretBox,
  { triggerId, sealedSecrets }: Pick<Trigger, 'triggerId' | 'sealedSecrets'>,
): TriggerSecrets {
  return JSON.parse(secrets.open(sealedSecrets, triggerId));
}

/** The secrets that are accepted at a time, the current one first. */
export function acceptedSecrets({ current, previous }: TriggerSecrets, now: number): readonly string[] {
  return previous !== undefined && previous.expiresAt > now ? [current, previous.secret] : [current];
}

/** Salted with the id, so that two triggers with one secret do not show it. */
function fingerprintOf(triggerId: string, secret: string): string {
  return createHash('sha256')
    .update(JSON.stringify(['svc:trigger', triggerId, secret]))
    .digest('hex')
    .slice(0, 16);
}
