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
  };
}
