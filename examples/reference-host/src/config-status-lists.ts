import { z } from 'zod';
import { issuerUrl } from './config-issuers.ts';
import { durationSeconds } from './config-values.ts';

/** The status lists of an issuer. */
export const statusLists = z.strictObject({
  uris: z
    .array(
      issuerUrl.refine(
        (text) => !URL.canParse(text) || new URL(text).href === text,
        'must be in its normal form. Write it as a browser shows it, with a path.',
      ),
    )
    .min(1)
    .max(100)
    .describe('URIs of its lists. One that ends with / allows every URI that begins with it.'),
  required: z.boolean().default(false).describe('Refuses tokens without the claim status.'),
  maxAgeSeconds: durationSeconds
    .max(3600)
    .default(300)
    .describe('Longest use of a list, and so of a revoked token, in seconds.'),
});
