import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Random } from '../../ports/random.ts';

/** The page to which a token belongs. */
export interface TokenBinding {
  readonly triggerId: string;
  /** The origin of the page. */
  readonly origin: string;
}

/** The content of an authentic token. */
export interface FormToken {
  /** 128 random bits in base64url. They identify the submission. */
  readonly nonce: string;
  /** In ms since the epoch. */
  readonly expiresAt: number;
}

/** The time for which a token of a form is valid, in ms. */
export const TOKEN_MS = 3_600_000;

/** Makes a token for one submission from a page. It is signed, so that the host stores nothing until it is used. */
export function mintFormToken(
  secret: string,
  binding: TokenBinding,
  { now, random }: { readonly now: number; readonly random: Random },
): { readonly token: string; readonly expiresAt: number } {
  const expiresAt = now + TOKEN_MS;
  const nonce = Buffer.from(random(16)).toString('base64url');
  return { token: `${expiresAt}.${nonce}.${macOf(secret, binding, `${expiresAt}.${nonce}`)}`, expiresAt };
}

/** Reads a token; undefined when the host did not make it for this page. An expired one is returned, too: see `isTimely`. */
export function readFormToken(secret: string, binding: TokenBinding, token: string): FormToken | undefined {
  const [, signed = '', time = '', nonce = '', mac = ''] = FORM.exec(token) ?? [];
  const expected = macOf(secret, binding, signed);
  if (mac.length !== expected.length || !timingSafeEqual(Buffer.from(mac), Buffer.from(expected))) return undefined;
  return { nonce, expiresAt: Number(time) };
}

/**
 * Returns whether a token has not expired. One that would be valid for longer than an hour was made by a clock that was ahead: the
 * host could have forgotten its submission by then.
 *
 * @param now the time of the store, in ms since the epoch: submissions are forgotten by it
 */
export function isTimely({ expiresAt }: Pick<FormToken, 'expiresAt'>, now: number): boolean {
  return expiresAt > now && expiresAt <= now + TOKEN_MS + SKEW_MS;
}

/** Hosts read the clock of the store with a small error. */
const SKEW_MS = 60_000;

// The lengths of 16 and of 32 bytes in base64url.
const FORM = /^(([0-9]{1,15})\.([A-Za-z0-9_-]{22}))\.([A-Za-z0-9_-]{43})$/;

function macOf(secret: string, { triggerId, origin }: TokenBinding, signed: string): string {
  return createHmac('sha256', secret)
    .update(JSON.stringify(['svc:form-token', triggerId, origin, signed]))
    .digest('base64url');
}
