import { z } from 'zod';
import { mode, tenantId } from './config-values.ts';

const column = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[^\0]+$/, 'must be the name of a column. Remove NUL.');

const common = {
  table: column.describe('Name of the table or view.'),
  cursor: column.describe('Column whose value rises with each row that is to be read.'),
  key: column
    .optional()
    .describe('Column that tells rows with one cursor apart. Default: none, and the cursor is unique.'),
  columns: z.array(column).min(1).max(100).describe('Columns that a message has.'),
  settleMs: z
    .int()
    .min(0)
    .max(86_400_000)
    .default(1000)
    .describe(
      'Longest time between the moment at which a transaction takes a cursor and that of its first write, in ms.',
    ),
  pollMs: z.int().min(10).max(3_600_000).default(1000).describe('Pause after a look that found no more rows, in ms.'),
  grants: z
    .array(
      z.strictObject({
        tenant: tenantId.describe('Id of a tenant.'),
        mode: mode.default('live').describe('Mode of the triggers of the tenant that may read the table.'),
      }),
    )
    .max(1000)
    .describe('Tenants that may read the table. A tenant that is not listed is refused.'),
};

const postgres = z.strictObject({
  database: z.literal('postgres').describe('A table of PostgreSQL.'),
  url: z
    .string()
    .regex(/^postgres(?:ql)?:\/\/.+$/, 'must be the location of a database. Write postgres://USER@HOST/DATABASE.')
    .describe('Location of the primary: postgres://….'),
  schema: column.default('public').describe('Schema of the table.'),
  connections: z.int().min(1).max(100).default(2).describe('Most connections of this host.'),
  ...common,
});

const sqlite = z.strictObject({
  database: z.literal('sqlite').describe('A table of SQLite.'),
  file: z.string().min(1).describe('Path of the database, relative to the working directory of the host.'),
  ...common,
});

/** The tables whose rows start runs, by the names that triggers use. */
export const changes = z
  .record(
    z.string().regex(/^[a-z][a-z0-9-]{0,62}$/, 'must be a name of lower-case letters, digits and hyphens.'),
    z.discriminatedUnion('database', [postgres, sqlite]),
  )
  .default({})
  .describe('Tables whose rows start runs, by the names that triggers use. Default: none, and no table starts runs.');
