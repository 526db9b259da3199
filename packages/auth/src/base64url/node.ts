import { Buffer } from 'node:buffer';
import type { DecodeBase64url } from './base64url.ts';

export const decodeBase64url: DecodeBase64url = (text) => Buffer.from(text, 'base64url');
