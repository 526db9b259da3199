export type { RateDecision, RateLimiter } from './limiter.ts';
export { type MemoryRateLimiterOptions, memoryRateLimiter } from './memory.ts';
