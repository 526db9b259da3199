import { hash } from 'node:crypto';
import type { Sha256, Sha256Base64url } from './sha256.ts';

/** SHA-256 by the OpenSSL of the runtime. */
export const sha256: Sha256 = (data) => hash('sha256', data, 'hex');

export const sha256Base64url: Sha256Base64url = (data) => hash('sha256', data, 'base64url');
