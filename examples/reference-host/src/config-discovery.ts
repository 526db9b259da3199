import { z } from 'zod';

const contractProvenance = z
  .strictObject({
    suiteVersion: z
      .string()
      .regex(/^[0-9]+\.[0-9]+\.[0-9]+$/, 'must be three integers joined by dots')
      .describe('Release of the conformance suite.'),
  })
  .nullable()
  .prefault({ suiteVersion: '2.35.0' })
  .describe('contractProvenance of the discovery document of major 1. null omits it.');

const workspaceDiscovery = z
  .array(
    z.strictObject({
      tenant: z.string().describe('Id of a tenant.'),
      workspace: z.string().describe('Name of one of its workspaces.'),
      families: z.array(z.string()).describe('Families of the discovery document that the workspace sees.'),
    }),
  )
  .optional()
  .describe('Serves /host/<org>/discovery. A workspace that is not listed sees every family. Default: not served.');

/** The keys of the configuration for the discovery document. */
export const discovery = { contractProvenance, workspaceDiscovery };
