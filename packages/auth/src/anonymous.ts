import { bytesToHex } from '@noble/hashes/utils.js';
import { type OptionNames, requireKnown } from './known-options.ts';
import { isOpaqueId } from './opaque-id.ts';
import type { Principal } from './principal.ts';
import type { Tenancy } from './tenancy.ts';

/** Options of `anonymousActor`. */
export interface AnonymousActorOptions {
  /** The tenant and workspace of the public surface. The runs of the actor belong to it. */
  readonly tenancy: Tenancy;
  /** The host, as the issuer of the actor: a URI or URN. */
  readonly issuer: string;
  /** A cryptographic source, e.g. `(size) => crypto.getRandomValues(new Uint8Array(size))`. */
  readonly randomBytes: (size: number) => Uint8Array;
}

const ANONYMOUS_ACTOR_OPTIONS: OptionNames<AnonymousActorOptions> = { tenancy: true, issuer: true, randomBytes: true };

/**
 * Mints the actor of one session on a public surface. Its id is 128 random bits: no part comes from the caller, and the
 * id cannot be linked to a person, a workspace or another session. It holds no scope, and roles are not resolved for
 * it.
 *
 * @throws {TypeError} when `randomBytes` returns another number of bytes or `tenancy.tenant` is not an opaque id
 * @example
 * const actor = anonymousActor({ tenancy, issuer: 'https://svc.example.com', randomBytes });
 * @see Interface: Run owner (identity triple), Anonymous actor rules
 */
export function anonymousActor(options: AnonymousActorOptions): Principal {
  requireKnown('anonymousActor', options, ANONYMOUS_ACTOR_OPTIONS);
  const { tenancy, issuer, randomBytes } = options;
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
 * Returns whether the anonymous actors of a surface may use a tool. Names are compared exactly; there is no wildcard.
 *
 * @param granted the tools that this surface grants
 * @example
 * anonymousMayUse(['search'], 'search'); // true
 * anonymousMayUse(['*'], 'search'); // false
 */
export function anonymousMayUse(granted: readonly string[], tool: string): boolean {
  return tool !== '' && granted.includes(tool);
}
