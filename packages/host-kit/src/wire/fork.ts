import type { Major } from '@svc/versioning';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { Run } from '../ports/runs.ts';
import type { ForkRequest } from '../runs/fork.ts';
import { runIdOf } from './event.ts';
import { createdBody, runOptions, runStatus } from './run.ts';
import { runId } from './schemas.ts';

/** The fork body of a major, as what it asks for. */
export const forkRequest: Readonly<Record<Major, z.ZodType<ForkRequest>>> = { 1: requestOf(1), 2: requestOf(2) };

function requestOf(major: Major): z.ZodType<ForkRequest> {
  return z
    .strictObject({
      mode: z.enum(['replay', 'branch']),
      fromSeq: z
        .int()
        .min(0)
        .optional()
        .describe(
          'What stands before it in the log is fixed. A replay is of the whole run by default; a branch has to say it.',
        ),
      runOptionsOverlay: runOptions[major].optional().describe('For a branch alone.'),
    })
    .refine(({ mode, fromSeq }) => mode !== 'branch' || fromSeq !== undefined, {
      path: ['fromSeq'],
      message: 'must be there for a branch',
    })
    .refine(({ mode, runOptionsOverlay = {} }) => mode !== 'replay' || Object.keys(runOptionsOverlay).length === 0, {
      path: ['runOptionsOverlay'],
      message: 'is for a branch: a replay does what its source did',
    })
    .transform(({ mode, fromSeq = 0, runOptionsOverlay = {} }) => ({
      mode,
      fromSeq,
      overlay: JSON.parse(JSON.stringify(runOptionsOverlay)),
    }));
}

/** The schema of the answer to a fork. */
export const forkedRun: Readonly<Record<Major, z.ZodType>> = { 1: forked(1), 2: forked(2) };

function forked(major: Major): z.ZodType {
  return z
    .strictObject({
      runId: runId[major],
      sourceRunId: runId[major],
      fromSeq: z.int().min(0),
      mode: z.enum(['replay', 'branch']),
      status: runStatus,
      eventsUrl: z.string(),
      statusUrl: z.string(),
    })
    .meta({ id: 'ForkedRun' });
}

export function forkedBody(major: Major, run: Run): JsonObject {
  const { sourceRunId = '', fromSeq, mode } = run.fork ?? {};
  return {
    ...createdBody(major, run),
    sourceRunId: runIdOf[major]({ tenant: run.tenant, runId: sourceRunId }),
    ...{ fromSeq, mode },
  };
}
