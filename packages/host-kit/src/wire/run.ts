import type { Major } from '@svc/versioning';
import { projectId } from '@svc/versioning/ids';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { ConfigurableSection } from '../ports/configurable.ts';
import type { Run } from '../ports/runs.ts';
import { compensationStatus } from '../runs/compensation.ts';
import type { RunRequest } from '../runs/create.ts';
import type { RunValues } from '../runs/run-values.ts';
import { compensationState } from './compensation-status.ts';
import { configurableV2 } from './configurable.ts';
import { ownerMember, runIdOf } from './event.ts';
import { valueMembers, valuesBody } from './run-values.ts';
import { jsonObject, owner, runId, storedName } from './schemas.ts';

const COMMON = {
  workflowId: z.string().min(1).max(128),
  inputs: jsonObject.optional(),
  tenantId: storedName(128).optional(),
  scopeId: storedName(256).optional(),
  tags: z.array(z.string().max(256)).max(100).optional(),
  metadata: jsonObject.optional(),
};

function schemas(sections: readonly ConfigurableSection[]) {
  return {
    1: z.strictObject({ ...COMMON, configurable: jsonObject.optional() }),
    2: z.strictObject({ ...COMMON, configurable: configurableV2(sections).optional() }),
  } as const;
}

const OPTIONS = { configurable: true, tags: true, metadata: true } as const;

/**
 * Returns the schema of the options of a run: every member of a creation that a fork can change.
 *
 * @param sections the sections of `configurable` that the engine understands
 */
export function runOptions(sections: readonly ConfigurableSection[]): Readonly<Record<Major, z.ZodType<object>>> {
  const bodies = schemas(sections);
  return { 1: bodies[1].pick(OPTIONS), 2: bodies[2].pick(OPTIONS) };
}

/**
 * Returns the schema of the body of a creation. Parses into the request of the domain.
 *
 * @param sections the sections of `configurable` that the engine understands
 */
export function runRequest(sections: readonly ConfigurableSection[]): Readonly<Record<Major, z.ZodType<RunRequest>>> {
  const bodies = schemas(sections);
  return {
    1: bodies[1].transform(requestOf),
    2: bodies[2].transform(({ configurable, ...body }) =>
      requestOf({
        ...body,
        ...(configurable !== undefined && { configurable: JSON.parse(JSON.stringify(configurable)) }),
      }),
    ),
  };
}

function requestOf(body: z.infer<ReturnType<typeof schemas>[1]>): RunRequest {
  return {
    workflowId: body.workflowId,
    inputs: body.inputs ?? {},
    scope: body.tenantId,
    scopeId: body.scopeId,
    configurable: body.configurable,
    tags: [...new Set(body.tags ?? [])],
    metadata: body.metadata,
  };
}

export const runRequestExample: JsonObject = { workflowId: 'echo', inputs: { greeting: 'hello' }, tags: ['nightly'] };

/** The schema of the status of a run. */
export const runStatus: z.ZodType = z
  .enum([
    ...(['pending', 'running', 'paused', 'waiting-approval', 'waiting-input', 'waiting-external'] as const),
    ...(['completed', 'failed', 'cancelling', 'cancelled'] as const),
  ])
  .meta({ id: 'RunStatus' });

/** The schema of the response to a creation. */
export const createdRun: Readonly<Record<Major, z.ZodType>> = { 1: created(1), 2: created(2) };

function created(major: Major): z.ZodType {
  return z
    .strictObject({
      runId: runId[major],
      status: runStatus,
      eventsUrl: z.string().describe('The path of the events of the run.'),
      statusUrl: z.string().describe('The path of the run.'),
    })
    .meta({ id: 'CreatedRun' });
}

/** The schema of the snapshot of a run: open in major 1, closed in major 2. */
export const snapshot: Readonly<Record<Major, z.ZodType>> = {
  1: z
    .object({
      ...snapshotOf(1),
      ...valueMembers[1],
      startedAt: z.iso.datetime().optional(),
      completedAt: z.iso.datetime().optional(),
    })
    .meta({ id: 'RunSnapshot' }),
  2: z
    .strictObject({
      ...snapshotOf(2),
      ...valueMembers[2],
      compensationStatus: compensationState
        .optional()
        .describe('Absent for a run of an engine that does not compensate.'),
    })
    .meta({ id: 'RunSnapshot' }),
};

function snapshotOf(major: Major) {
  return {
    runId: runId[major],
    workflowId: z.string(),
    status: runStatus,
    owner: owner[major].optional().describe('The owner of the run. Absent on a host with one tenant.'),
    eventLogSchemaVersion: z.int().min(2),
    engineVersion: z.int().min(0),
    mode: z.enum(['live', 'test']).describe('`test` for a run that was created with a test key, otherwise `live`.'),
    configurable: jsonObject.optional(),
    tags: z.array(z.string()).optional(),
    metadata: jsonObject.optional(),
    parentRunId: runId[major].optional().describe('The run that started this one as its child.'),
    currentNodeId: z.string().optional().describe('The node that waits. Present while the run waits.'),
    error: z.strictObject({ code: z.string(), message: z.string(), details: jsonObject.optional() }).optional(),
  };
}

/** The response to a creation in the form of a major. */
export function createdBody(major: Major, run: Run): JsonObject {
  const path = pathOf[major](run);
  return { runId: runIdOf[major](run), status: run.status, eventsUrl: `${path}/events`, statusUrl: path };
}

/**
 * The snapshot of a run in the form of a major.
 *
 * @param values absent in lists, for which the logs of all runs would have to be read
 * @see Interface: Run owner; Version axes 3 and 4
 */
export function snapshotBody(major: Major, run: Run, values?: RunValues): JsonObject {
  return {
    runId: runIdOf[major](run),
    workflowId: run.workflowId,
    status: run.status,
    ...ownerMember(major, run),
    eventLogSchemaVersion: run.eventLogSchemaVersion,
    engineVersion: run.engineVersion,
    mode: run.mode,
    ...(run.configurable !== undefined && { configurable: run.configurable }),
    ...(run.tags.length > 0 && { tags: run.tags }),
    ...(run.metadata !== undefined && { metadata: run.metadata }),
    ...(run.parent !== undefined && {
      parentRunId: runIdOf[major]({ tenant: run.tenant, runId: run.parent.runId }),
    }),
    ...(run.currentNodeId !== undefined && { currentNodeId: run.currentNodeId }),
    ...(run.error !== undefined && { error: { ...run.error } }),
    ...(major === 2 && run.compensation !== undefined && { compensationStatus: compensationStatus(run) }),
    ...TIMES[major](run),
    ...(values !== undefined && valuesBody(major, values)),
  };
}

/** Only the snapshot of major 1 has times: the one of major 2 is closed and defines none. */
const TIMES: Readonly<Record<Major, (run: Run) => JsonObject>> = {
  1: ({ startedAt, completedAt }) => ({
    ...(startedAt !== undefined && { startedAt: new Date(startedAt).toISOString() }),
    ...(completedAt !== undefined && { completedAt: new Date(completedAt).toISOString() }),
  }),
  2: () => ({}),
};

const pathOf: Readonly<Record<Major, (run: Run) => string>> = {
  1: (run) => `/v1/runs/${runIdOf[1](run)}`,
  2: (run) => `/runs/${projectId(runIdOf[2](run))}`,
};
