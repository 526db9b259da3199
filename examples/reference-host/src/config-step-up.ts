import { z } from 'zod';
import { scope } from './config-values.ts';

const name = z
  .string()
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be a name. Write it without spaces, quotation marks and backslashes.');

/** An entry of the key of the configuration for sign-ins. */
export const stepUpRule = z
  .strictObject({
    operations: z
      .array(z.string().min(1))
      .default([])
      .describe('Operations, by their operationId in an API description of the host, such as createKey.'),
    scopes: z
      .array(scope)
      .default([])
      .describe('Scopes, for every operation and mount that uses one of them, such as keys:manage or keys:*.'),
    acrValues: z
      .array(name)
      .min(1)
      .optional()
      .describe('Accepted ways of the sign-in (acr), the preferred one first. Default: any.'),
    methods: z
      .array(name)
      .min(1)
      .optional()
      .describe('Methods of the sign-in (amr) that are all needed. Default: none.'),
    maxAgeSeconds: z.int().min(0).optional().describe('Oldest sign-in (auth_time), in seconds. Default: any age.'),
  })
  .refine(({ operations, scopes }) => operations.length + scopes.length > 0, {
    path: ['operations'],
    error: 'is empty, and so is scopes. Name what needs the sign-in.',
  })
  .refine(
    ({ acrValues, methods, maxAgeSeconds }) => [acrValues, methods, maxAgeSeconds].some((one) => one !== undefined),
    {
      path: ['acrValues'],
      error: 'is missing, and so are methods and maxAgeSeconds. Say which sign-in is needed.',
    },
  );
