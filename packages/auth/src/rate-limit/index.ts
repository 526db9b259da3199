export { rateLimitHeaders } from './headers.ts';
export type { RateDecision, RateLimiter } from './limiter.ts';
export type { MemoryRateLimiterOptions } from './memory.ts';
export { memoryRateLimiter } from './memory.ts';
