import type { Major } from '@svc/versioning';
import { z } from 'zod';

export { jsonObject, jsonValue } from '../json-schema.ts';

/** The schema of a name that is stored as a text, such as that of a workspace. PostgreSQL stores no text with U+0000. */
export function storedName(maxLength: number): z.ZodString {
  return z
    .string()
    .min(1)
    .max(maxLength)
    .refine((name) => !name.includes('\0'), 'must not contain U+0000');
}

/** The schema of an id that is bound to its tenant, as in `acme/run_01k0p3v5tq9d8m2x4c6b8n0r1s`. */
export const boundId: z.ZodString = z.string().regex(/^(?:anon:)?[A-Za-z0-9._~-]{1,128}\/[A-Za-z0-9._~-]{16,128}$/);

/** The schema of the id of a run in a major. */
export const runId: Readonly<Record<Major, z.ZodType<string>>> = {
  1: z
    .string()
    .min(1)
    .max(128)
    .meta({ id: 'RunId', examples: ['run_01k0p3v5tq9d8m2x4c6b8n0r1s'] }),
  2: boundId.meta({ id: 'RunId', examples: ['acme/run_01k0p3v5tq9d8m2x4c6b8n0r1s'] }),
};

/** The schema of a subject. @see Interface: Subject record */
export const subject: z.ZodType = z
  .strictObject({
    issuer: z.string().describe('The authority that vouches for the subject.'),
    subjectId: z.string(),
    tenant: z.string(),
    lane: z.string(),
    kind: z.enum(['user', 'agent', 'anonymous', 'workload']),
    keyClass: z.string().optional(),
    get actor() {
      return subject.optional().describe('The subject that delegated to this one.');
    },
  })
  .meta({ id: 'Subject' });

/** The schema of the owner of a run. @see Interface: Run owner (identity triple) */
export const owner: Readonly<Record<Major, z.ZodType>> = {
  1: z
    .strictObject({
      tenant: z.string(),
      workspace: z.string().optional(),
      principal: z.string().optional(),
      principalKind: z.enum(['user', 'agent', 'anonymous']).optional(),
      subject: subject.optional(),
    })
    .meta({ id: 'RunOwner' }),
  2: z.strictObject({ tenant: z.string(), workspace: z.string().optional(), subject }).meta({ id: 'RunOwner' }),
};
