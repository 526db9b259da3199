import { z } from 'zod';
import { opaqueId, scope } from './config-values.ts';

const role = z.strictObject({
  role: opaqueId.describe('Name of the role.'),
  scopes: z.array(scope).describe('Scopes that the role permits.'),
});

const assignment = z.strictObject({
  principal: opaqueId.describe('Opaque id of the principal.'),
  workspace: z.string().min(1).describe('Workspace in which the principal has the role.'),
  role: opaqueId.describe('Name of the role. It must be one of authorization.roles.'),
  tenant: opaqueId
    .optional()
    .describe('Tenant of the workspace. Default: every tenant that has a workspace of that name.'),
});

/** The key of the configuration for roles. */
export const authorization = z.strictObject({
  roles: z.array(role).describe('Roles with their scopes.'),
  assignments: z.array(assignment).default([]).describe('Roles of principals in workspaces.'),
});
