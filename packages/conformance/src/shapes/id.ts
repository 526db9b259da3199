import { z } from 'zod';
import type { Major } from '../rule.ts';

const TENANT = '(?:anon:)?[A-Za-z0-9._~-]{1,128}';

export const tenantId: z.ZodType<string> = z.string().regex(new RegExp(`^${TENANT}$`), 'must be a tenant id');
export const workspaceId: z.ZodType<string> = z.string().regex(/^[A-Za-z0-9._~-]{1,128}$/, 'must be a workspace id');
export const eventId: z.ZodType<string> = z
  .string()
  .regex(/^[A-Za-z0-9._~-]{16,128}$/, 'must be 16 to 128 characters of A-Z a-z 0-9 . _ ~ -');

/** Id of a run, an interrupt, a subscription or a delivery. Major 2 binds it to its tenant: `<tenantId>/<id>`. */
export const resourceId: Readonly<Record<Major, z.ZodType<string>>> = {
  1: z.string().min(1).max(128),
  2: z
    .string()
    .regex(
      new RegExp(`^${TENANT}/[A-Za-z0-9._~-]{16,128}$`),
      'must be a tenant-bound id, <tenantId>/<16 to 128 characters>',
    ),
};

export const time: z.ZodType<string> = z.iso.datetime({ offset: true });

/** Encodes an id as one segment of a path. */
export function segment(id: string): string {
  return encodeURIComponent(id);
}

/**
 * Encodes a bound id in the other form: each byte outside `A-Z a-z 0-9 . _ -` becomes `~` and two hexadecimal digits.
 */
export function projected(id: string): string {
  return [...new TextEncoder().encode(id)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9._-]/.test(character) ? character : `~${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

/** Returns the part of an id after its tenant. */
export function bareId(id: string): string {
  return id.slice(id.indexOf('/') + 1);
}

/** Makes an id that does not exist, in the form of the major. */
export function unknownId(major: Major, tenant: string | undefined): string {
  const bare = `conformance-${crypto.randomUUID()}`;
  return major === 2 && tenant !== undefined ? `${tenant}/${bare}` : bare;
}
