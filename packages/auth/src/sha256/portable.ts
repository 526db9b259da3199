import { sha256 as sha256Bytes } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Sha256 } from './sha256.ts';

/** SHA-256 in plain JavaScript, for every runtime. */
export const sha256: Sha256 = (data) => bytesToHex(sha256Bytes(typeof data === 'string' ? utf8ToBytes(data) : data));
