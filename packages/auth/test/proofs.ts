import { createHash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';

/** A client with its own key. */
export interface ProofMaker {
  readonly thumbprint: string;
  readonly publicJwk: object;
  /** Makes a DPoP proof. `claims` and `header` override its content. */
  proof(options: {
    htm: string;
    htu: string;
    token?: string;
    nonce?: string;
    iat?: number;
    claims?: object;
    header?: object;
  }): Promise<string>;
  /** Signs a header and claims by ES256 as they are, also when they contradict the algorithm. */
  signed(header: object, claims: object): Promise<string>;
}

export async function proofMaker(): Promise<ProofMaker> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const publicJwk = await exportJWK(publicKey);
  return {
    publicJwk,
    thumbprint: await calculateJwkThumbprint(publicJwk),
    proof({ htm, htu, token, nonce, iat = Math.floor(Date.now() / 1000), claims = {}, header = {} }) {
      const ath = token === undefined ? {} : { ath: createHash('sha256').update(token).digest('base64url') };
      const payload = { htm, htu, iat, jti: randomUUID(), ...ath, ...(nonce !== undefined && { nonce }), ...claims };
      return new SignJWT(payload)
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: publicJwk, ...header })
        .sign(privateKey);
    },
    async signed(header, claims) {
      const input = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
      const parameters = { name: 'ECDSA', hash: 'SHA-256' };
      const signature = await crypto.subtle.sign(parameters, privateKey, Buffer.from(input));
      return `${input}.${Buffer.from(signature).toString('base64url')}`;
    },
  };
}
