import { z } from 'zod';
import { resourceId, time } from './id.ts';

const secret = z.string().regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hexadecimal characters');

/** Body of the response to a major-1 registration. */
export const registered1 = z.strictObject({
  webhookId: resourceId[1],
  secret,
  secretFingerprint: z.string().regex(/^[0-9a-f]{8}$/, 'must be 8 lower-case hexadecimal characters'),
});

/** Body of the response to a major-2 registration with a secret. */
export const registered2 = z.strictObject({ webhookId: resourceId[2] });

const DEAD_LETTER = (id: z.ZodType<string>) =>
  z.strictObject({
    deliveryId: id,
    webhookId: id,
    runId: id,
    eventId: z.string().min(1).max(128),
    eventType: z.string().min(1),
    attempts: z.int().min(0),
    deadLetteredAt: time,
    expiresAt: time,
    reason: z.enum(['retries_exhausted', 'payload_unprojectable']),
    lastStatus: z.int().min(100).max(599).optional(),
  });

const PAGE = (id: z.ZodType<string>) =>
  z.strictObject({ deliveries: z.array(DEAD_LETTER(id)), nextCursor: z.string().min(1).max(2048).optional() });

/** A page of dead letters. It is closed: the content of a delivery must not appear in it. */
export const deadLetters = { 1: PAGE(resourceId[1]), 2: PAGE(resourceId[2]) } as const;
