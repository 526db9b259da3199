import { type CryptoKey, type KeyObject, SignJWT } from 'jose';
import { clockOf } from '../clock-of.ts';
import type { Algorithm } from '../jwt/algorithms.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';

/** Authenticates this host at the introspection endpoint of an issuer. */
export interface ClientAuthentication {
  /** The id of this host at the issuer. */
  readonly clientId: string;
  /** Makes the parts of one request. It is called for each request, because an assertion is valid once. */
  partsOf(request: {
    /** The issuer, the audience of assertions. */
    readonly issuer: string;
  }): ClientAuthenticationParts | Promise<ClientAuthenticationParts>;
}

/** The parts of a request by which a client authenticates. */
export interface ClientAuthenticationParts {
  /** Request headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parameters of the form, beside the token. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Options of `clientSecretBasic`. */
export interface ClientSecretOptions {
  /** The id of this host at the issuer. */
  readonly clientId: string;
  /** The secret that the issuer has given to it. */
  readonly clientSecret: string;
}

/**
 * Authenticates with a secret in the header `Authorization`.
 *
 * @throws {TypeError} when an option is empty
 * @example
 * const client = clientSecretBasic({ clientId: 'svc', clientSecret });
 * @see RFC 6749, section 2.3.1
 */
export function clientSecretBasic(options: ClientSecretOptions): ClientAuthentication {
  requireKnown('clientSecretBasic', options, SECRET_OPTIONS);
  const { clientId, clientSecret } = options;
  requireText('clientSecretBasic', { clientId, clientSecret });
  const pair = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`;
  const parts = { headers: { authorization: `Basic ${btoa(pair)}` }, parameters: {} };
  return { clientId, partsOf: () => parts };
}

const SECRET_OPTIONS: OptionNames<ClientSecretOptions> = { clientId: true, clientSecret: true };

/** Options of `privateKeyJwt`. */
export interface PrivateKeyJwtOptions {
  /** The id of this host at the issuer. */
  readonly clientId: string;
  /** The private key that signs assertions. On Node, a `KeyObject` will do. */
  readonly key: CryptoKey | KeyObject;
  /** `alg` of the key. */
  readonly algorithm: Algorithm;
  /** `kid` of the key. Default: left out. */
  readonly keyId?: string;
  /** The audience of assertions. Default: the issuer. */
  readonly audience?: string;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Returns a fresh id (`jti`) for every assertion, e.g. `() => crypto.randomUUID()`. */
  readonly newId: () => string;
}

/**
 * Authenticates with an assertion that a private key of this host signs. Each assertion is valid for a minute.
 *
 * @throws {TypeError} when an option is unknown or empty
 * @example
 * const newId = () => crypto.randomUUID();
 * const client = privateKeyJwt({ clientId: 'svc', key, algorithm: 'ES256', newId });
 * @see RFC 7523, section 3; OpenID Connect Core 1.0, section 9
 */
export function privateKeyJwt(options: PrivateKeyJwtOptions): ClientAuthentication {
  requireKnown('privateKeyJwt', options, KEY_OPTIONS);
  const { clientId, key, algorithm, keyId, audience, newId } = options;
  const now = clockOf('privateKeyJwt', options.now);
  requireText('privateKeyJwt', { clientId });
  return {
    clientId,
    async partsOf({ issuer }) {
      const issuedAt = Math.floor(now() / 1000);
      const assertion = await new SignJWT({
        iss: clientId,
        sub: clientId,
        aud: audience ?? issuer,
        iat: issuedAt,
        exp: issuedAt + ASSERTION_SECONDS,
        jti: newId(),
      })
        .setProtectedHeader({ alg: algorithm, typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) })
        .sign(key);
      return {
        headers: {},
        parameters: { client_id: clientId, client_assertion_type: TYPE, client_assertion: assertion },
      };
    },
  };
}

const KEY_OPTIONS: OptionNames<PrivateKeyJwtOptions> = {
  clientId: true,
  key: true,
  algorithm: true,
  keyId: true,
  audience: true,
  now: true,
  newId: true,
};

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const ASSERTION_SECONDS = 60;

function requireText(owner: string, texts: Readonly<Record<string, unknown>>): void {
  for (const [name, text] of Object.entries(texts)) {
    if (typeof text !== 'string' || text === '')
      throw new TypeError(`${owner}: ${name} must be a text that is not empty. Pass the one that the issuer gave you.`);
  }
}

/** Encodes as a form does, before base64: a secret may contain a colon. */
function formEncoded(text: string): string {
  return new URLSearchParams({ v: text }).toString().slice(2);
}
