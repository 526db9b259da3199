import { z } from 'zod';
import { utcTime } from './config-values.ts';

const version = z
  .string()
  .regex(/^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$/, 'must be <major>.<minor>. Write a version such as 1.1.');

const retirement = z.strictObject({
  deprecatedAt: utcTime.describe('Time of the deprecation, in UTC.'),
  sunsetAt: utcTime.optional().describe('Time at which major 1 ends, in UTC. Default: not said.'),
  link: z.url('must be a URL. Give that of a page.').optional().describe('Page about the migration. Default: none.'),
});

const mirror = z.strictObject({
  share: z.number().gt(0).max(1).default(0.01).describe('Share of the reads that are compared.'),
  maxConcurrent: z
    .int()
    .min(1)
    .max(16)
    .default(2)
    .describe('Most comparisons at a time. Further reads are not compared.'),
  majors: z
    .array(z.union([z.literal(1), z.literal(2)]))
    .min(1)
    .default([1])
    .describe('Majors whose requests are compared.'),
});

/** The key of the configuration for the versions of the protocol. */
export const protocol = z.strictObject({
  versions: z.array(version).min(1).default(['1.1', '2.0']).describe('Served versions of the protocol.'),
  preferred: version
    .optional()
    .describe('Version of a request that names none. It must be one of versions. Default: the first 1.x of versions.'),
  minClientVersion: version
    .optional()
    .describe('A client that states a lower version is rejected with 426. Default: every client is accepted.'),
  mirror: mirror.optional().describe('Reads that are answered in the other major again, and compared. Default: none.'),
  retirement: retirement.optional().describe('Dates that each response of major 1 announces. Default: none.'),
});
