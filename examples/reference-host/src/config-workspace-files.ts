import { z } from 'zod';

/** The key of the configuration for workspace files. */
export const workspaceFiles = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether workspace files are served.'),
  maxFileBytes: z.int().min(1).default(65_536).describe('Largest file, in bytes of UTF-8.'),
  maxFiles: z.int().min(1).max(10_000).default(256).describe('Most files of a workspace.'),
  maxVersions: z
    .int()
    .min(1)
    .max(1000)
    .default(10)
    .describe('Most stored versions of a file, the current one included.'),
});
