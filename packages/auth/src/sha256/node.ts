import { hash } from 'node:crypto';
import type { Sha256 } from './sha256.ts';

/** SHA-256 by the runtime's own OpenSSL, in one call. */
export const sha256: Sha256 = (data) => hash('sha256', data, 'hex');
