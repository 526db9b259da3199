import type { Major } from '@svc/versioning';
import { z } from 'zod';
import type { ByMajor, Parameters } from '../http/description.ts';

/** Every path parameter of the manifest, as a major writes it. */
export function pathParameters(major: Major): Parameters {
  const idOf = (what: string, prefix: string) => ID[major](what, prefix);
  return {
    runId: idOf('run', 'run'),
    webhookId: idOf('subscription', 'whk'),
    id: idOf('trigger subscription', 'trg'),
    workflowId: z
      .string()
      .min(1)
      .max(128)
      .meta({ description: 'The id of the workflow.', examples: ['echo'] }),
    artifactId: z.string().min(1).max(256).describe('The id of the artifact, as `artifact.created` names it.'),
    nodeId: z.string().min(1).max(256).describe('The node that asks.'),
    token: z.string().min(1).max(4096).describe('The token of one interrupt. It is the credential, too.'),
    path: z
      .string()
      .min(1)
      .max(768)
      .meta({ description: 'The path of the file, its slashes plain or as `%2F`.', examples: ['notes%2Ftoday.md'] }),
  };
}

const ULID = '01k0p3v5tq9d8m2x4c6b8n0r1s';

const ID: ByMajor<(what: string, prefix: string) => z.ZodType> = {
  1: (what, prefix) =>
    z
      .string()
      .min(1)
      .max(128)
      .meta({ description: `The id of the ${what}.`, examples: [`${prefix}_${ULID}`] }),
  2: (what, prefix) =>
    z
      .string()
      .min(1)
      .max(512)
      .meta({
        description: `The tenant-bound id of the ${what} as one segment: projected (\`~2F\`) or percent-encoded (\`%2F\`).`,
        examples: [`acme~2F${prefix}_${ULID}`],
      }),
};
