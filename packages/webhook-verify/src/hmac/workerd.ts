import type { PrepareHmac } from './hmac.ts';
import { prepareHmac as preparePortable } from './portable.ts';

export { sha256Hex } from './portable.ts';

/**
 * Prepares HMAC-SHA256 for Workers: with the `node:crypto` of the runtime where the Worker has Node compatibility
 * (`nodejs_compat`), and in plain JavaScript elsewhere. The module is looked up and not imported, because an import would
 * fail without Node compatibility.
 */
export const prepareHmac: PrepareHmac = (key) => {
  const crypto = nodeCrypto();
  if (crypto === undefined) return preparePortable(key);
  return (prefix, body, encoding = 'hex') =>
    crypto.createHmac('sha256', key).update(prefix).update(body).digest(encoding);
};

/** The part of `node:crypto` that is used here. */
interface NodeCrypto {
  createHmac(algorithm: 'sha256', key: Uint8Array): NodeHmac;
}

interface NodeHmac {
  update(data: Uint8Array | string): NodeHmac;
  digest(encoding: 'hex' | 'base64'): string;
}

interface NodeProcess {
  readonly getBuiltinModule?: (name: 'node:crypto') => NodeCrypto | undefined;
}

function nodeCrypto(): NodeCrypto | undefined {
  const process: NodeProcess | undefined = Reflect.get(globalThis, 'process');
  return process?.getBuiltinModule?.('node:crypto');
}
