import { isOpaqueId } from '@svc/auth';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { StoredBinding } from '../ports/access.ts';
import { accessScopes, claim, nextAfter, opaque, RECORD, viewOfRecord } from './access.ts';

const workspaces = z
  .array(z.string().refine((name) => name === '*' || isOpaqueId(name), 'must be a workspace or "*"'))
  .min(1)
  .max(256)
  .refine((names) => names.length === 1 || !names.includes('*'), 'must be either ["*"] or names')
  .refine((names) => new Set(names).size === names.length, 'must have each workspace once');

/** The body of a request for a new binding. */
export interface NewBindingBody {
  readonly issuer: string;
  readonly subject: string;
  readonly principal?: string | undefined;
  readonly principalKind?: 'user' | 'agent' | undefined;
  readonly workspaces?: string[] | undefined;
  readonly scopes: string[];
  readonly mode: 'live' | 'test';
}

/** The schema of a request for a new binding. */
export const newBindingBody: z.ZodType<NewBindingBody> = z
  .strictObject({
    issuer: claim.describe('The exact issuer of the identity. For SPIFFE: `spiffe://` and the trust domain.'),
    subject: claim.describe('The exact subject of the identity, within a grant of the operator.'),
    principal: opaque
      .optional()
      .describe(
        'The principal as which the workload acts. Default: one of its own. Another one than the caller needs the scope `keys:assign`.',
      ),
    principalKind: z.enum(['user', 'agent']).optional().describe('The kind of the principal. Default: a workload.'),
    workspaces: workspaces
      .optional()
      .describe('The workspaces that it reaches. `["*"]`: all of the tenant. Default: those of the caller.'),
    scopes: accessScopes,
    mode: z.enum(['live', 'test']).default('live').describe('The data that it reaches. Default: `live`.'),
  })
  .meta({ id: 'NewWorkloadBinding' });

/** The body of a change of a binding. */
export interface BindingChangeBody {
  readonly scopes?: string[] | undefined;
  readonly workspaces?: string[] | undefined;
  readonly epoch?: number | undefined;
}

/** The schema of a change of a binding. */
export const bindingChangeBody: z.ZodType<BindingChangeBody> = z
  .strictObject({
    scopes: accessScopes.optional(),
    workspaces: workspaces.optional().describe('The workspaces that it reaches. `["*"]`: all of the tenant.'),
    epoch: z
      .int()
      .min(1)
      .optional()
      .describe(
        'The `epoch` of the binding that you have read. The change is refused when there was another one since.',
      ),
  })
  .refine((change) => change.scopes !== undefined || change.workspaces !== undefined, 'must have scopes or workspaces')
  .meta({ id: 'WorkloadBindingChange' });

/** The schema of a binding. */
export const bindingView: z.ZodObject = z
  .object({
    ...RECORD,
    issuer: z.string(),
    subject: z.string(),
    scheme: z.string().optional(),
    principal: z.string(),
    principalKind: z.enum(['user', 'agent']).optional(),
    workspaces: z.array(z.string()),
    scopes: z.array(z.string()),
    mode: z.enum(['live', 'test']),
    isGranted: z
      .boolean()
      .describe('False: the operator no longer grants the identity to the tenant, and the workload is refused.'),
  })
  .meta({ id: 'WorkloadBinding' });

/** The schema of a page of bindings. */
export const bindingPage: z.ZodType = z
  .object({ bindings: z.array(bindingView), nextAfter })
  .meta({ id: 'WorkloadBindings' });

/** A binding as its tenant sees it. */
export function viewOfBinding(record: StoredBinding, isGranted: boolean): JsonObject {
  const { issuer, subject, scheme, principal, principalKind, scopes, mode } = record;
  return {
    ...viewOfRecord(record),
    ...{ issuer, subject, principal, scopes: [...scopes], mode },
    workspaces: record.workspaces === 'all' ? ['*'] : [...record.workspaces],
    ...(scheme !== undefined && { scheme }),
    ...(principalKind !== undefined && { principalKind }),
    // The configuration needs no grant for its own.
    isGranted: record.source === 'configuration' || isGranted,
  };
}

/** Returns the reach that a request asks for. */
export function reachIn(names: readonly string[]): 'all' | readonly string[] {
  return names.includes('*') ? 'all' : names;
}
