export type { MintedKey } from './format.ts';
export { acceptsForeignKey, hashApiKey, mintApiKey } from './format.ts';
export type { ApiKeyRecord, KeyLookup, KeyStore } from './key-store.ts';
export { checkedApiKeyRecord } from './key-store.ts';
export type { ApiKeyLaneOptions } from './lane.ts';
export { apiKeyLane } from './lane.ts';
export { memoryKeyStore } from './memory.ts';
