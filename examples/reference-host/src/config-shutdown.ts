import { z } from 'zod';

const drainMs = z
  .int()
  .min(0)
  .max(600_000)
  .default(0)
  .describe('Time in which readyz answers 503 before the host stops accepting connections, in ms.');

const graceMs = z
  .int()
  .min(100)
  .max(600_000)
  .default(4500)
  .describe(
    'Longest wait of a stop for requests, and then again for executions and attempts, in ms. The process ends within drainMs plus twice this time plus 1000 ms.',
  );

/** The key of the configuration for the end of the process. */
export const shutdown = z.strictObject({ drainMs, graceMs });
