import { z } from 'zod';

const CODE = z.string().min(1);
const MESSAGE = z.string().min(1);

/** @see Interface: Error envelope (REST authentication failures) */
export const ERROR: {
  readonly 1: z.ZodType<Envelope>;
  readonly 2: z.ZodType<Envelope>;
} = {
  1: z.strictObject({
    error: CODE,
    message: MESSAGE,
    details: z.record(z.string(), z.unknown()).optional(),
    scopeRequired: z.string().min(1).optional(),
  }),
  // Major 2 has retry timing in the header Retry-After alone.
  2: z.strictObject({
    error: CODE,
    message: MESSAGE,
    details: z
      .looseObject({
        retryAfter: z.never('must be in the Retry-After header alone').optional(),
        retryAfterMs: z.never('must be in the Retry-After header alone').optional(),
        retryAfterSeconds: z.never('must be in the Retry-After header alone').optional(),
      })
      .optional(),
  }),
};

/** Body of an error response. */
export interface Envelope {
  error: string;
  message: string;
  details?: Record<string, unknown> | undefined;
  scopeRequired?: string | undefined;
}
