import { LIMIT_VALUES } from '../discovery/limit-values.ts';

/** The default of `HttpOptions.maxRequestBodyBytes`. */
export const DEFAULT_MAX_REQUEST_BODY_BYTES: number = LIMIT_VALUES['limits.maxRequestBodyBytes'];

/** The time in which the body of a request must arrive. */
export const BODY_TIMEOUT_MS = 10_000;
