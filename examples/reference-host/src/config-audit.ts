import { isWitnessKey } from '@svc/auth/audit-tree';
import { z } from 'zod';
import { durationSeconds, file, publicKey } from './config-values.ts';

const ORIGIN_FORM =
  'must have 1 to 255 visible ASCII characters without plus. Write a URL without scheme, such as svc.example.com/audit.';
const URL_FORM = 'must be an http(s) URL. Write the submission prefix of the witness.';
const KEY_FORM = 'must be the key of a witness, <name>+<key id>+<base64>. Copy it from its owner.';

/** The part of the configuration about the audit log. */
export const audit = z.strictObject({
  checkpointIntervalEntries: z
    .int()
    .min(1)
    .max(100_000)
    .default(1000)
    .describe('Most entries between two checkpoints.'),
  checkpointIntervalSeconds: durationSeconds
    .max(86_400)
    .default(300)
    .describe('Most seconds between an entry and the checkpoint that covers it.'),
  signingKeyFile: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'File with the Ed25519 private key that signs checkpoints, in PEM. null: a file beside the SQLite database; with PostgreSQL, a key derived from secretKey.',
    ),
  formerPublicKeys: z
    .array(publicKey)
    .max(64)
    .default([])
    .describe('Public keys of former signers, whose checkpoints are still stored.'),
  checkpointFile: file
    .nullable()
    .default(null)
    .describe(
      'File to which every checkpoint is appended, outside of the folder of the database. At its start the host compares the audit log with it. null: no file, and a log that was cut is not detected.',
    ),
  origin: z
    .string()
    .regex(/^[\x21-\x2a\x2c-\x7e]{1,255}$/, ORIGIN_FORM)
    .optional()
    .describe(
      'Unique name of the audit log in its signed notes. It must never change. Default: baseUrl without its scheme, followed by /host/<org>/audit.',
    ),
  witness: z
    .strictObject({
      url: z.url({ protocol: /^https?$/, error: URL_FORM }).describe('Submission prefix of the witness.'),
      key: z.string().refine(isWitnessKey, KEY_FORM).describe('Key of the witness, as its owner publishes it.'),
    })
    .nullable()
    .default(null)
    .describe(
      'Witness of transparency logs that cosigns the head of the log with every checkpoint, before the checkpoint counts as made. The policy of egress applies to its address. It needs origin. null: no witness.',
    ),
});
