import { z } from 'zod';

const PAGE_ORIGIN = 'must be an exact origin or *. Give scheme, host and port without a path or a slash at the end.';

/** The key of the configuration for web pages that call the host. */
export const cors = z
  .strictObject({
    origins: z
      .array(z.string().regex(/^(?:\*|[a-z][a-z0-9+.-]*:\/\/[^/?#\s@]+)$/, PAGE_ORIGIN))
      .min(1)
      .describe('Exact origins of the pages, such as https://console.example.com. ["*"]: every origin.'),
    credentials: z
      .boolean()
      .default(false)
      .describe('Lets pages send cookies and client certificates. Not needed for keys and tokens, refused with *.'),
    maxAgeSeconds: z
      .int()
      .min(0)
      .max(86_400)
      .default(600)
      .describe('Time for which a browser remembers a permission, in seconds.'),
  })
  .refine(({ origins, credentials }) => !(credentials && origins.includes('*')), {
    path: ['credentials'],
    error: 'is refused with the origin *. List the origins that may send credentials.',
  });
