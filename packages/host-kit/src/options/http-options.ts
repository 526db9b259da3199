import type { RefusalLimit } from '@svc/auth';
import type { RateLimiter } from '@svc/auth/rate-limit';
import type { Coding } from '../http/content-coding.ts';
import type { CorsOptions } from '../http/cors.ts';
import type { StreamOptions } from './stream-options.ts';

/**
 * The limits of requests, and the form of answers. Each member may be left out.
 *
 * @example
 * const http: HttpOptions = {
 *   rateLimit: memoryRateLimiter({ limit: 600, windowSeconds: 60 }),
 *   cors: { origins: ['https://console.example.com'] },
 * };
 */
export interface HttpOptions {
  /** Limits the requests of each credential. Default: no limit. */
  readonly rateLimit?: RateLimiter;
  /** Limits refused credentials, and requests without one, by client address. Default: no limit. */
  readonly refusals?: RefusalLimit;
  /** The largest request body in bytes. A larger one is answered 413. Default 1 048 576. */
  readonly maxRequestBodyBytes?: number;
  /** The content codings for callers that accept them, the preferred first. Default: `zstd`, `br`, `gzip`. */
  readonly contentEncodings?: readonly Coding[];
  /** The web pages that may call the host from a browser. Default: none, so no answer has a CORS header. */
  readonly cors?: CorsOptions;
  /** Event streams and long polls. Each missing member takes its default. */
  readonly streams?: Partial<StreamOptions>;
}
