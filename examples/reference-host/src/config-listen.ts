import { z } from 'zod';
import { durationMs } from './config-values.ts';

/** The key of the configuration for the address of the host. */
export const listen = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('Address that the host listens on.'),
  port: z.int().min(0).max(65_535).default(8787).describe('Port. 0: any free port, which the ready line names.'),
  maxConnections: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe(
      'Most connections at a time. Further ones are closed at once. Default: 10000, or 256 less than the files that the process may open.',
    ),
  keepAliveTimeoutMs: durationMs
    .max(3_600_000)
    .default(65_000)
    .describe('Time after which a connection without a request is closed, in ms. Longer than that of a load balancer.'),
});
