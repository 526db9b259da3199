import { z } from 'zod';
import { resourceId, tenantId, time, workspaceId } from './id.ts';

export const STATUSES = [
  'pending',
  'running',
  'paused',
  'waiting-approval',
  'waiting-input',
  'waiting-external',
  'completed',
  'failed',
  'cancelling',
  'cancelled',
] as const;

export const TERMINAL: readonly string[] = ['completed', 'failed', 'cancelled'];
export const TERMINAL_EVENTS: readonly string[] = ['run.completed', 'run.failed', 'run.cancelled'];

const opaque = z.string().regex(/^[^\s/@]{1,256}$/, 'must be opaque: without @, white space or slash');
const status = z.enum(STATUSES);
const text = z.string().min(1);

const SUBJECT_1 = z.looseObject({
  issuer: text,
  subjectId: opaque,
  tenant: text,
  lane: text,
  kind: text.optional(),
});

const SUBJECT_2 = z.strictObject({
  issuer: z.string().regex(/^\S{1,1024}$/),
  subjectId: opaque,
  tenant: tenantId,
  lane: z.enum(['api-key', 'oauth2', 'oidc', 'mtls', 'saml', 'scim', 'ldap', 'workload', 'session', 'anonymous']),
  kind: z.enum(['user', 'agent', 'anonymous', 'workload']),
  keyClass: z.enum(['opaque-idp', 'configured-immutable']).optional(),
  actor: z.unknown().optional(),
});

/** @see Interface: Run owner (identity triple) */
export const OWNER = {
  1: z.looseObject({
    tenant: tenantId.optional(),
    workspace: workspaceId.optional(),
    principal: opaque.optional(),
    principalKind: z.enum(['user', 'agent', 'anonymous']).optional(),
    subject: SUBJECT_1.optional(),
  }),
  2: z.strictObject({ tenant: tenantId, workspace: workspaceId.optional(), subject: SUBJECT_2 }),
} as const;

const CREATED = (id: z.ZodType<string>) =>
  z.looseObject({
    runId: id,
    status: z.enum(['pending', 'running', 'waiting-approval', 'waiting-input', 'waiting-external']),
    eventsUrl: text,
    statusUrl: text.optional(),
  });

/** Body of the response to a creation. */
export const createdRun = { 1: CREATED(resourceId[1]), 2: CREATED(resourceId[2]) } as const;

const error = z.looseObject({ code: text, message: text });

/** Snapshot of a run. In major 2 it has no other members. */
export const snapshot = {
  1: z.looseObject({
    runId: resourceId[1],
    workflowId: text,
    status,
    owner: OWNER[1].optional(),
    engineVersion: z.int().min(0).optional(),
    eventLogSchemaVersion: z.int().min(2).optional(),
    startedAt: time.optional(),
    completedAt: time.optional(),
    error: error.optional(),
    mode: z.enum(['live', 'test']).optional(),
  }),
  2: z.strictObject({
    runId: resourceId[2],
    workflowId: text,
    status,
    owner: OWNER[2].optional(),
    eventLogSchemaVersion: z.int().min(2),
    engineVersion: z.int().min(0).optional(),
    mode: z.enum(['live', 'test']).optional(),
    currentNodeId: text.optional(),
    error: error.optional(),
    parentRunId: resourceId[2].optional(),
    configurable: z.unknown().optional(),
    tags: z.array(z.string()).optional(),
    metadata: z.unknown().optional(),
    variables: z.unknown().optional(),
    channels: z.unknown().optional(),
    agent: z.unknown().optional(),
    runOrchestrator: z.unknown().optional(),
    metrics: z.unknown().optional(),
    compensationStatus: z.string().optional(),
  }),
} as const;

export interface Snapshot {
  runId: string;
  workflowId: string;
  status: string;
  owner?: Owner | undefined;
  error?: { code: string; message: string } | undefined;
  mode?: string | undefined;
  tags?: unknown;
  metadata?: unknown;
  parentRunId?: unknown;
}

export interface Owner {
  tenant?: string | undefined;
  workspace?: string | undefined;
  principal?: string | undefined;
  subject?: { subjectId: string; tenant: string } | undefined;
}
