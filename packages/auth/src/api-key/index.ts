export { hashApiKey, isAcceptableKey, type MintedKey, mintApiKey } from './format.ts';
export type { ApiKeyRecord, KeyStore } from './key-store.ts';
export { type ApiKeyLaneOptions, apiKeyLane } from './lane.ts';
export { memoryKeyStore } from './memory.ts';
