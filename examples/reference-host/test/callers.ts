import { createHash, randomUUID } from 'node:crypto';
import { asDescribed } from '@svc/tools/as-described';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

/** The public origin of the hosts under test, which tokens and proofs name. */
export const BASE = 'https://svc.example.com';

export interface Signer {
  /** The public keys, for a `jwksFile`. */
  readonly jwks: { readonly keys: readonly JWK[] };
  /** Signs claims. Default: a token of two minutes. */
  sign(claims: object, header?: object): Promise<string>;
}

/** Makes an issuer's key pair. */
export async function signer(kid: string): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }] };
  return {
    jwks,
    sign: (claims, header = {}) =>
      new SignJWT({ iat: seconds(), exp: seconds() + 120, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid, ...header })
        .sign(privateKey),
  };
}

/** Seconds since the epoch. */
export const seconds = () => Math.floor(Date.now() / 1000);

export interface Prover {
  /** The `cnf.jkt` of tokens that are bound to this key. */
  readonly thumbprint: string;
  /** Returns a DPoP proof for a request with a token. */
  proof(htm: string, path: string, token: string): Promise<string>;
}

/** Makes the key pair of a client that proves its possession. */
export async function prover(): Promise<Prover> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  return {
    thumbprint: await calculateJwkThumbprint(jwk),
    proof: (htm, path, token) =>
      new SignJWT({
        htm,
        htu: `${BASE}${path}`,
        jti: randomUUID(),
        iat: seconds(),
        ath: createHash('sha256').update(token).digest('base64url'),
      })
        .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
        .sign(privateKey),
  };
}

export interface Sending {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body that is sent as JSON. */
  readonly body?: unknown;
}

/** Returns a function that sends requests to a host and holds each response to the host's API description. */
export function sender(url: () => string) {
  const send = asDescribed(fetch);
  return async (path: string, { method, headers = {}, body }: Sending = {}) => {
    const response = await send(url() + path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
}

export const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` });
