import type { Major } from '@svc/versioning';
import { z } from 'zod';
import type { ByMajor, Parameters } from '../http/description.ts';

/** Returns the schema of every path parameter of the manifest, in the form of a major. */
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
    artifactId: z.string().min(1).max(256).describe('The id of the artifact, from the event `artifact.created`.'),
    nodeId: z.string().min(1).max(256).describe('The id of the node that raised the interrupt.'),
    token: z
      .string()
      .min(1)
      .max(4096)
      .describe('The token of one interrupt. It authorizes the request; no other credential is needed.'),
    path: z
      .string()
      .min(1)
      .max(768)
      .meta({
        description: 'The path of the file. Its slashes may be plain or percent-encoded (`%2F`).',
        examples: ['notes%2Ftoday.md'],
      }),
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
        description: `The tenant-bound id of the ${what} in one segment, its slash as \`~2F\` or \`%2F\`.`,
        examples: [`acme~2F${prefix}_${ULID}`],
      }),
};
