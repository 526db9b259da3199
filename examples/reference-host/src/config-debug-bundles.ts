import { z } from 'zod';
import { utcTime } from './config-values.ts';

const KEY_ID = 'must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ -. Give the key a short name.';
const keyId = z.string().regex(/^[A-Za-z0-9._~-]{1,128}$/, KEY_ID);

/** The key of the configuration for the keys of debug bundles. */
export const debugBundles = z.strictObject({
  signingKeyFile: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'File with the Ed25519 private key that signs debug bundles, in PEM. null: a file beside the SQLite database; with PostgreSQL, a key derived from secretKey.',
    ),
  keyId: keyId.nullable().default(null).describe('Id of the key in discovery. null: a digest of the public key.'),
  formerKeys: z
    .array(
      z.strictObject({
        keyId: keyId.describe('Id that discovery named.'),
        publicKey: z
          .string()
          .regex(
            /^[A-Za-z0-9_-]{43}$/,
            'must be 43 characters of base64url. Copy publicKey of signingKeys in discovery.',
          )
          .describe('Public key that discovery named, in base64url.'),
        retiredAt: utcTime.optional().describe('Time from which the key signs nothing, in UTC. Default: not said.'),
      }),
    )
    .max(64)
    .default([])
    .describe('Former keys, for bundles that they have signed.'),
});
