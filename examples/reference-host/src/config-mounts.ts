import { z } from 'zod';
import { requestsInWindow } from './config-rate-limit.ts';
import { mode } from './config-values.ts';

const publicChat = z.strictObject({
  tenant: z.string().describe('Id of the tenant that the runs of visitors belong to. It must be one of tenants.'),
  workspace: z.string().describe('Workspace of the tenant that they belong to.'),
  mode: mode.default('live').describe('Mode of the runs.'),
  sessionSeconds: z.int().min(1).max(86_400).default(3600).describe('Life of the session of a visitor, in seconds.'),
  perClient: z
    .strictObject(requestsInWindow)
    .default({ limit: 60, windowSeconds: 60 })
    .describe('Limit of each client address.'),
});

/** The key of the configuration for further protocols. */
export const mounts = z.strictObject({
  a2a: z.boolean().default(true).describe('Serves A2A at /host/<org>/a2a.'),
  mcp: z.boolean().default(false).describe('Serves MCP at /host/<org>/mcp.'),
  chat: z.boolean().default(true).describe('Serves chat at /host/<org>/chat.'),
  publicChat: publicChat
    .optional()
    .describe('Serves chat to visitors without a credential, at /host/<org>/public-chat. Default: not served.'),
});
