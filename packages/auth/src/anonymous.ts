import { bytesToHex } from '@noble/hashes/utils.js';
import { isOpaqueId } from './opaque-id.ts';
import type { Principal } from './principal.ts';
import type { Tenancy } from './tenancy.ts';

export interface AnonymousActorOptions {
  /** Whose public surface it is, and where its runs belong. */
  readonly tenancy: Tenancy;
  /** The host, as the issuer of such actors: a URI or URN. */
  readonly issuer: string;
  /** A cryptographic source, e.g. `(size) => crypto.getRandomValues(new Uint8Array(size))`. */
  readonly randomBytes: (size: number) => Uint8Array;
}

/**
 * Mints the actor of one session on a public surface. It is random and nothing else: no part of it comes from the caller, and
 * nothing leads from it to a person, a workspace or another session. It holds no scope, and roles are not resolved for it.
 *
 * @throws {TypeError} for a source that gives another number of bytes
 * @example
 * const actor = anonymousActor({ tenancy, issuer: 'https://svc.example.com', randomBytes });
 * @see Interface: Run owner (identity triple), Anonymous actor rules
 */
export function anonymousActor({ tenancy, issuer, randomBytes }: AnonymousActorOptions): Principal {
  const random = randomBytes(ID_BYTES);
  if (random.length !== ID_BYTES) throw new TypeError(`anonymousActor: randomBytes must return ${ID_BYTES} bytes.`);
  if (!isOpaqueId(tenancy.tenant)) throw new TypeError('anonymousActor: tenancy.tenant must be an opaque id.');
  const id = `anon_${bytesToHex(random)}`;
  return {
    id,
    kind: 'anonymous',
    credentialId: id,
    lane: 'anonymous',
    binding: 'bearer',
    tenancy,
    scopes: [],
    subject: { issuer, subjectId: id, tenant: tenancy.tenant, lane: 'anonymous', kind: 'anonymous' },
  };
}

const ID_BYTES = 16;

/**
 * Whether a surface lets its anonymous actors use a tool: only by naming it.
 *
 * @param granted the tools of this one surface; a name is compared as it is, and no wildcard means anything
 */
export function anonymousMayUse(granted: readonly string[], tool: string): boolean {
  return tool !== '' && granted.includes(tool);
}
