import { isGrantableScope, isOpaqueId } from '@svc/auth';
import { parseCidr } from '@svc/egress-guard';
import { isTenantId, isWorkspaceId } from '@svc/versioning/ids';
import { z } from 'zod';
import { misspeltScope } from './known-scope.ts';

/** The id of a principal, a role or an API key. */
export const opaqueId = z
  .string()
  .refine(isOpaqueId, 'must be an opaque id. Use an id without @, white space or slash, such as p_7f3a.');

export const scope = z
  .string()
  .refine(isGrantableScope, { error: 'must be a scope. Use one such as runs:read or runs:*.', abort: true })
  .superRefine((text, context) => {
    const meant = misspeltScope(text);
    if (meant === undefined) return;
    context.addIssue({ code: 'custom', message: `grants nothing on this host. Correct it, perhaps to ${meant}.` });
  });

const SEGMENT = 'Use 1 to 128 letters, digits, dots, underscores, tildes or hyphens.';

export const tenantId = z.string().refine(isTenantId, `must be the id of a tenant. ${SEGMENT}`);
export const workspaceId = z.string().refine(isWorkspaceId, `must be the name of a workspace. ${SEGMENT}`);

/** A block of addresses. */
export const cidr = z
  .string()
  .refine(
    (text) => parseCidr(text) !== undefined,
    'must be a block of addresses. Write its first address and its length, such as 10.0.0.0/8.',
  );

/** A time with an offset, in the notation of RFC 3339. */
export const time = z.iso.datetime({
  offset: true,
  error: 'must be a time. Write it with its offset, such as 2026-12-31T00:00:00Z.',
});

/** A time in UTC, in the notation of RFC 3339. */
export const utcTime = z.iso.datetime({
  error: 'must be a time in UTC. Write it with Z, such as 2026-12-31T00:00:00Z.',
});

export const durationMs = z.int().min(1);
export const durationSeconds = z.int().min(1);

/** The path of a file, relative to the working directory of the host. */
export const file = z.string().min(1);

/** Either mode of credentials and of the records that they reach. */
export const mode = z.enum(['live', 'test']);

const KEY_FORM = 'must be 32 bytes in base64. Generate one with `openssl rand -base64 32`.';

export const key32 = z.string().regex(/^[A-Za-z0-9+/]{43}=$/, KEY_FORM);

const PUBLIC_KEY_FORM = 'must be a checkpointPublicKey. Copy it from the audit section of the discovery document.';

/** An Ed25519 public key: 44 bytes of SubjectPublicKeyInfo. */
export const publicKey = z.string().regex(/^[A-Za-z0-9+/]{59}=$/, PUBLIC_KEY_FORM);
