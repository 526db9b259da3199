import { z } from 'zod';
import { durationMs } from './config-values.ts';

/** The key of the configuration for event streams. */
export const streams = z.strictObject({
  places: z
    .strictObject({
      perRun: z.int().min(1).default(500).describe('Of one run.'),
      perCredential: z.int().min(1).default(500).describe('Of one credential.'),
      total: z.int().min(1).default(2000).describe('Of the host.'),
    })
    .prefault({})
    .describe('Most readers at a time. Further ones are answered 429.'),
  keepAliveMs: durationMs
    .max(30_000)
    .default(15_000)
    .describe('Longest silence of a stream before it sends a comment, in ms.'),
  judgeEveryMs: durationMs
    .max(3_600_000)
    .default(30_000)
    .describe('Interval at which the credential of a reader is checked again, in ms.'),
  stallMs: durationMs
    .max(3_600_000)
    .default(30_000)
    .describe('Time after which a stream is closed whose reader takes no data, in ms.'),
});
