import { z } from 'zod';
import { key32 } from './config-values.ts';

/** The keys of the configuration for the store, and for the keys that seal its records. */
export const store = {
  store: z
    .string()
    .regex(
      /^(?:memory:|sqlite:(?!:memory:$|file:).+|postgres(?:ql)?:\/\/.+)$/,
      'must be the location of a store. Use memory:, sqlite:PATH or postgres://USER@HOST/DATABASE.',
    )
    .default('sqlite:./svc.db')
    .describe('memory:, sqlite:PATH or postgres://…. Several hosts may share a PostgreSQL.'),
  secretKey: key32
    .optional()
    .describe(
      '32 bytes in base64. Encrypts secrets at rest. Required with PostgreSQL. Default: a file beside the SQLite database.',
    ),
  formerSecretKeys: z
    .array(key32)
    .max(16)
    .default([])
    .describe('Former and coming values of secretKey. They open records and seal none.'),
  pseudonymKey: key32
    .optional()
    .describe('The first secretKey, from which pseudonyms are derived. Default: secretKey.'),
};
