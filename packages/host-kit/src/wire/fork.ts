import type { Major } from '@svc/versioning';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { ConfigurableSection } from '../ports/configurable.ts';
import type { Run } from '../ports/runs.ts';
import type { ForkRequest } from '../runs/fork.ts';
import { runIdOf } from './event.ts';
import { createdBody, runOptions, runStatus } from './run.ts';
import { runId } from './schemas.ts';

/**
 * Returns the schema of the body of a fork. Parses into the request of the domain.
 *
 * @param sections the sections of `configurable` that the engine understands
 */
export function forkRequest(sections: readonly ConfigurableSection[]): Readonly<Record<Major, z.ZodType<ForkRequest>>> {
  const options = runOptions(sections);
  return { 1: requestOf(options[1]), 2: requestOf(options[2]) };
}

function requestOf(options: z.ZodType<object>): z.ZodType<ForkRequest> {
  return z
    .strictObject({
      mode: z.enum(['replay', 'branch']),
      fromSeq: z
        .int()
        .min(0)
        .optional()
        .describe(
          'The fork keeps the events of the source before this sequence. Required for a branch. Replay default: 0.',
        ),
      runOptionsOverlay: options
        .optional()
        .describe('Options that differ from those of the source. Only for a branch.'),
    })
    .refine(({ mode, fromSeq }) => mode !== 'branch' || fromSeq !== undefined, {
      path: ['fromSeq'],
      message: 'is required for a branch',
    })
    .refine(({ mode, runOptionsOverlay = {} }) => mode !== 'replay' || Object.keys(runOptionsOverlay).length === 0, {
      path: ['runOptionsOverlay'],
      message: 'must be empty for a replay, which repeats its source. Use mode branch to change options',
    })
    .transform(({ mode, fromSeq = 0, runOptionsOverlay = {} }) => ({
      mode,
      fromSeq,
      overlay: JSON.parse(JSON.stringify(runOptionsOverlay)),
    }));
}

/** The schema of the response to a fork. */
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

/** The response to a fork in the form of a major. */
export function forkedBody(major: Major, run: Run): JsonObject {
  const { sourceRunId = '', fromSeq, mode } = run.fork ?? {};
  return {
    ...createdBody(major, run),
    sourceRunId: runIdOf[major]({ tenant: run.tenant, runId: sourceRunId }),
    ...{ fromSeq, mode },
  };
}
