import { z } from 'zod';
import { DEBUG_BUNDLE_VERSION } from '../debug-bundle/format.ts';
import { jsonObject } from './schemas.ts';

const record = z.array(jsonObject);

/** The schema of a debug bundle. */
export const debugBundle: z.ZodType = z
  .object({
    bundleVersion: z.literal(DEBUG_BUNDLE_VERSION),
    kind: z.literal('debug'),
    bundleId: z.string(),
    createdAt: z.iso.datetime(),
    host: z.object({ name: z.string(), version: z.string(), vendor: z.string() }),
    major: z.int().min(1).max(2).describe('The major in whose form the run and its events are.'),
    run: jsonObject.describe('The run with its inputs.'),
    log: z
      .object({ events: record, isWhole: z.boolean() })
      .describe('The last events, at most 2000 and 4 MiB. `isWhole` is false when older ones were left out.'),
    deliveries: z
      .object({ queued: record, lastAttempts: record, isWhole: z.boolean() })
      .optional()
      .describe('The deliveries of these events that wait or are dead letters, and the last attempts.'),
    decisions: z
      .object({ entries: record, isWhole: z.boolean() })
      .optional()
      .describe('The entries of the audit log about the run.'),
    omitted: z.array(
      z.object({ section: z.enum(['deliveries', 'decisions']), reason: z.enum(['not-permitted', 'not-kept']) }),
    ),
    redactions: z.int().min(0).describe('The number of texts in which something was redacted.'),
    signature: z
      .object({ alg: z.literal('ed25519'), keyId: z.string(), value: z.string() })
      .describe('Over the canonical JSON (RFC 8785) of the other members.'),
  })
  .meta({ id: 'DebugBundle' });
