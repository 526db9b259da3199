import { z } from 'zod';

/**
 * The schema of a new file: the body of a PUT, and the file that a run writes. Only major 1 has an operation for it.
 */
export const fileRequest: z.ZodType<{ content: string; contentType: string }> = z.strictObject({
  content: z
    .string()
    .refine((content) => !/\p{Cs}/u.test(content), 'must be well-formed Unicode')
    .describe('The text of the file.'),
  contentType: z
    .string()
    .max(255)
    // A parameter has no semicolon: if it had, a text could be split into parameters in exponentially many ways.
    .regex(
      /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(?: *; *[\x21-\x3a\x3c-\x7e]+)*$/i,
      'must be a media type',
    )
    .default('text/markdown'),
});
