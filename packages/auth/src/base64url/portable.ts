import { base64url } from 'jose';
import type { DecodeBase64url } from './base64url.ts';

export const decodeBase64url: DecodeBase64url = (text) => base64url.decode(text).slice();
