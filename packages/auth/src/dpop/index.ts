export type { MemoryReplayStoreOptions } from './memory.ts';
export { memoryReplayStore } from './memory.ts';
export type { Nonces, NoncesOptions } from './nonce.ts';
export { statelessNonces } from './nonce.ts';
export type { DpopOptions, DpopVerifier } from './proof.ts';
export { dpopVerifier } from './proof.ts';
export type { ReplayStore } from './replay-store.ts';
