import { z } from 'zod';
import { durationSeconds } from './config-values.ts';

/** The keys of a limit of requests in a window of time. */
export const requestsInWindow = {
  limit: z.int().min(1).describe('Most requests in a window.'),
  windowSeconds: durationSeconds.max(86_400).describe('Length of the window, in seconds.'),
};

/** The key of the configuration for the limits of callers. */
export const rateLimit = z.strictObject({
  ...requestsInWindow,
  refusals: z
    .strictObject(requestsInWindow)
    .optional()
    .describe(
      'Limit of refused credentials for each client address, and of requests without one. Default: limit and windowSeconds of rateLimit.',
    ),
});
