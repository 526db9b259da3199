import { z } from 'zod';

const NO_URL = 'must be a URL without a query. Write http://HOST:PORT.';

const url = z
  .url({ protocol: /^https?$/, error: NO_URL, abort: true })
  .refine((text) => /^[^?#@]*$/.test(text), { error: NO_URL });

const restate = z.strictObject({
  ingressUrl: url.describe('URL of the ingress, such as http://127.0.0.1:8080.'),
  adminUrl: url.describe('URL of the admin API, such as http://127.0.0.1:9070.'),
  port: z
    .int()
    .min(0)
    .max(65_535)
    .describe('Port on which the host serves its handler for Restate, beside its own. 0: any free port.'),
  host: z.string().min(1).default('127.0.0.1').describe('Address on which it serves the handler.'),
  handlerUrl: url
    .optional()
    .describe(
      'URL under which Restate calls the handler of this host, and of no other one. Default: from host and port.',
    ),
  identityKeys: z
    .array(
      z.string().regex(/^publickeyv1_[A-Za-z0-9]+$/, {
        error: 'must be a public key. Copy publickeyv1_… from the log of Restate.',
      }),
    )
    .max(16)
    .default([])
    .describe(
      'Public keys of the clusters that may call the handler. Default: every caller that reaches the port may.',
    ),
  turnDays: z.int().min(1).max(3650).default(7).describe('Days for which Restate keeps ended turns.'),
});

/** The keys of the configuration for the engine. */
export const engine = {
  engine: z
    .enum(['steps', 'dbos', 'restate'])
    .default('steps')
    .describe(
      'Executes the runs. steps: the host itself. dbos: DBOS Transact, on the PostgreSQL of the store and in its schema dbos. restate: the Restate cluster of the key restate.',
    ),
  restate: restate.optional().describe('The Restate cluster of the engine restate, which requires it.'),
};
