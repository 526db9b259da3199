export type { ClientAddressOptions } from './client-address.ts';
export { clientAddress } from './client-address.ts';
export type { FlexibleLimiter, FlexibleRateLimiterOptions, FlexibleResult } from './flexible.ts';
export { flexibleRateLimiter } from './flexible.ts';
export { rateLimitHeaders } from './headers.ts';
export type { RateDecision, RateLimiter } from './limiter.ts';
export type { MemoryRateLimiterOptions } from './memory.ts';
export { memoryRateLimiter } from './memory.ts';
