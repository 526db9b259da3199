import { createHash, timingSafeEqual } from 'node:crypto';
import type { PortalSession } from '../ports/portal-sessions.ts';
import type { Random } from '../ports/random.ts';

/** The one-time code of a session, which its URL carries, and the token for which it is exchanged. */
export type SecretKind = 'code' | 'token';

/** Makes a code or a token: its kind, and 256 random bits in hexadecimal. */
export function mintSecret(kind: SecretKind, random: Random): { readonly secret: string; readonly digest: string } {
  const secret = `${PREFIX[kind]}${Buffer.from(random(RANDOM_BYTES)).toString('hex')}`;
  return { secret, digest: digestOf(secret) };
}

/** Returns whether a text has the form of a code or a token. */
export function isSecret(kind: SecretKind, text: string): boolean {
  return text.startsWith(PREFIX[kind]) && /^[0-9a-f]{64}$/.test(text.slice(PREFIX[kind].length));
}

/** Returns the digest under which a code or a token is stored. A fast hash suffices, because neither can be guessed. */
export function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/**
 * Returns the one candidate with this digest. Each candidate is compared in constant time, and a dummy when there is none:
 * the time tells neither which one matched nor that there was one.
 */
export function sessionWith(
  kind: SecretKind,
  digest: string,
  candidates: readonly PortalSession[],
): PortalSession | undefined {
  let found: PortalSession | undefined;
  for (const candidate of candidates) {
    const stored = kind === 'code' ? candidate.codeDigest : candidate.tokenDigest;
    if (isEqual(digest, stored ?? DUMMY)) found = candidate;
  }
  if (candidates.length === 0) isEqual(digest, DUMMY);
  return found;
}

function isEqual(digest: string, stored: string): boolean {
  const [a, b] = [Buffer.from(digest), Buffer.from(stored)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const PREFIX: Readonly<Record<SecretKind, string>> = { code: 'svc_portal_code_', token: 'svc_portal_' };
const RANDOM_BYTES = 32;
const DUMMY = '0'.repeat(64);
