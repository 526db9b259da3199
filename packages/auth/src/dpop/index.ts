export { memoryReplayStore } from './memory.ts';
export type { Nonces, NoncesOptions } from './nonce.ts';
export { statelessNonces } from './nonce.ts';
export type { BoundToken, DpopOptions, DpopVerifier, VerifiedProof } from './proof.ts';
export { dpopVerifier } from './proof.ts';
export type { ReplayAnswer, ReplayStore, ReplayStoreFull, ReplayStoreOptions } from './replay-store.ts';
