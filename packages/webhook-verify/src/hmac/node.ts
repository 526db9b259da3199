import { createHmac, createSecretKey } from 'node:crypto';
import type { PrepareHmac } from './hmac.ts';

/** HMAC-SHA256 by the runtime's own OpenSSL. */
export const prepareHmac: PrepareHmac = (key) => {
  const secret = createSecretKey(key);
  return (prefix, body) => createHmac('sha256', secret).update(prefix).update(body).digest();
};
