import type { Delivery } from './delivery.ts';
import type { WebhookVerificationError } from './errors.ts';
import type { HeaderSource } from './headers.ts';
import { secretList } from './secret.ts';
import { checkedTolerance } from './timestamp.ts';
import { Webhook, type WebhookOptions } from './webhook.ts';

/** The secret of a subscription; several while a rotation overlaps. */
export type Secret = string | readonly string[];

/** A judge of requests: authentic and fresh, or not. A {@link Webhook} is one. */
export interface Verifier {
  /** Verifies a request, and returns a rejection as a value. */
  safeVerify(body: Uint8Array | string, headers: HeaderSource): ReceivedVerification;
}

/** The result of a {@link Verifier}. */
export type ReceivedVerification =
  /** The delivery is authentic and fresh. */
  | { readonly ok: true; readonly delivery: Delivery }
  /** The sender verifies the endpoint; the answer must repeat the challenge. */
  | { readonly ok: true; readonly challenge: string }
  /** The request was rejected. */
  | { readonly ok: false; readonly error: WebhookVerificationError };

/** The options that choose the verifier of a request. */
export interface VerifierOptions<Source extends readonly unknown[]> extends WebhookOptions {
  readonly secret?: Secret | undefined | ((...source: Source) => Secret | undefined | Promise<Secret | undefined>);
  readonly verifier?: Verifier | ((...source: Source) => Verifier | Promise<Verifier>);
}

/**
 * Makes the function that returns the verifier of a request. A missing secret is an error of the request, not of the
 * start: a framework evaluates the module when it builds, where no environment variable is set.
 *
 * @throws {TypeError} when an option is invalid, at once; when the secret is missing, on a request
 */
export function verifierOf<Source extends readonly unknown[]>(
  options: VerifierOptions<Source>,
): (...source: Source) => Verifier | Promise<Verifier> {
  const { secret, verifier } = options;
  if (verifier === undefined ? !('secret' in options) : secret !== undefined) {
    throw new TypeError('secret: must be set unless verifier is, and never beside it. Set its environment variable.');
  }
  if (typeof verifier === 'function') return async (...source) => requireVerifier(await verifier(...source));
  if (verifier !== undefined) {
    requireVerifier(verifier);
    return () => verifier;
  }
  checkedTolerance(options.toleranceSeconds);
  const rules = webhookOptions(options);
  if (typeof secret === 'function') return changing(secret, rules);
  const webhook = isMissing(secret) ? undefined : new Webhook(secret, rules);
  return () => webhook ?? missing();
}

/** Returns the error of a secret that is missing. Undefined: there is one, or a function returns it for each request. */
export function missingSecret<Source extends readonly unknown[]>(
  options: Pick<VerifierOptions<Source>, 'secret' | 'verifier'>,
): TypeError | undefined {
  return options.verifier === undefined && isMissing(options.secret) ? new TypeError(MISSING) : undefined;
}

/** @param verifier undefined, for example, when a look-up finds none for a request */
function requireVerifier(verifier: Verifier | undefined): Verifier {
  if (typeof verifier?.safeVerify === 'function') return verifier;
  throw new TypeError('verifier: must have a method safeVerify. Pass standardVerifier(secret), or a Webhook.');
}

/** Keeps the verifier of the newest secrets, because preparing a secret costs more than a verification. */
function changing<Source extends readonly unknown[]>(
  secretOf: (...source: Source) => Secret | undefined | Promise<Secret | undefined>,
  rules: WebhookOptions,
): (...source: Source) => Promise<Verifier> {
  let newest: { readonly secrets: readonly string[]; readonly webhook: Webhook } | undefined;
  return async (...source) => {
    const secret = await secretOf(...source);
    if (isMissing(secret)) return missing();
    const secrets = [...secretList(secret)];
    if (newest !== undefined && areSame(newest.secrets, secrets)) return newest.webhook;
    const webhook = new Webhook(secrets, rules);
    newest = { secrets, webhook };
    return webhook;
  };
}

function areSame(known: readonly string[], secrets: readonly string[]): boolean {
  return known.length === secrets.length && known.every((secret, index) => secret === secrets[index]);
}

/** Whether a secret is not there, or one of several, as when an environment variable is not set. */
function isMissing(secret: unknown): secret is undefined {
  if (Array.isArray(secret)) return secret.length === 0 || secret.some(isMissing);
  return secret === undefined || secret === null || secret === '';
}

function missing(): never {
  throw new TypeError(MISSING);
}

const MISSING = 'secret: is undefined or empty. Set its environment variable.';

/** Leaves out the options of the receiver, which `Webhook` does not have. */
function webhookOptions({ toleranceSeconds, now, webhookId }: WebhookOptions): WebhookOptions {
  return {
    ...(toleranceSeconds !== undefined && { toleranceSeconds }),
    ...(now !== undefined && { now }),
    webhookId,
  };
}
