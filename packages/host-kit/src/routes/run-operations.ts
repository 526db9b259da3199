import type { Major, Served } from '@svc/versioning';
import { errorEnvelope } from '@svc/versioning/projection';
import { HostError } from '../errors.ts';
import { json } from '../http/description.ts';
import { type FailureOptions, refusalOf } from '../http/refusal.ts';
import { type AuthorizedCall, type Route, routeWithBody } from '../http/route.ts';
import type { JsonObject } from '../json.ts';
import type { Save } from '../ports/idempotency.ts';
import type { Run } from '../ports/runs.ts';
import { type Cancelled, cancelRun } from '../runs/cancel.ts';
import { conflict, type RunServices } from '../runs/change-run.ts';
import { pauseRun } from '../runs/pause.ts';
import { type Resumed, resumeRun } from '../runs/resume.ts';
import {
  bulkCancelled,
  bulkCancelRequest,
  cancelled,
  cancelledBody,
  MOST_RUN_IDS,
  pausedBody,
  pausedRun,
  pauseRequest,
  reasonRequest,
  resumedBody,
  resumedRun,
} from '../wire/run-operations.ts';
import { bareRunId, runIdIn } from './run-address.ts';

export interface RunOperationRoutesOptions extends RunServices, FailureOptions {
  readonly served: Pick<Served, 'overlap'>;
}

const ADDRESS_ERRORS = ['not_found', 'run_forbidden', 'id_tenant_mismatch'] as const;

/** What callers do with runs that exist. */
export function runOperationRoutes(options: RunOperationRoutesOptions): Route[] {
  const { served } = options;
  return [
    routeWithBody({
      operationId: 'cancelRun',
      scope: 'runs:cancel',
      schema: reasonRequest,
      isBodyOptional: true,
      describes: {
        tag: 'Runs',
        summary: 'Cancel a run',
        description: 'It has ended within five seconds.',
        example: { reason: 'no longer needed' },
        answers: { 200: json('The run is cancelled, or about to be.', cancelled) },
        errors: { 1: ADDRESS_ERRORS, 2: [...ADDRESS_ERRORS, 'run_terminal'] },
      },
      serve: (call, { reason }, save: Save<Cancelled>) =>
        cancelRun(options, call.principal, runIdIn(served, call), { reason }, save),
      reply: ({ run, hadEnded }, { major }) => ({
        status: 200,
        body: { ...cancelledBody(major, run), ...(hadEnded && ENDED[major](run)) },
      }),
    }),
    routeWithBody({
      operationId: 'bulkCancelRuns',
      scope: 'runs:cancel',
      schema: bulkCancelRequest,
      describes: {
        tag: 'Runs',
        summary: 'Cancel several runs',
        description: 'Each is cancelled or refused by itself.',
        example: {
          1: { runIds: ['run_01k0p3v5tq9d8m2x4c6b8n0r1s'] },
          2: { runIds: ['acme/run_01k0p3v5tq9d8m2x4c6b8n0r1s'] },
        },
        answers: { 200: json('What became of each.', bulkCancelled) },
      },
      // A transaction for each run, so that a hundred of them hold nobody up. The reply is kept after the last one: whoever repeats a request
      // whose host died in between finds the runs that it had cancelled known by its key, and goes on behind them.
      async serve(call, { runIds, reason }) {
        if (runIds.length < 1 || runIds.length > MOST_RUN_IDS) throw tooMany();
        const results: JsonObject[] = [];
        for (const runId of runIds) results.push(await cancelOne(call, runId, reason));
        return { status: 200, body: { results } };
      },
    }),
    routeWithBody({
      operationId: 'pauseRun',
      scope: 'runs:cancel',
      schema: pauseRequest,
      isBodyOptional: true,
      describes: {
        tag: 'Runs',
        summary: 'Pause a run',
        description:
          'A request with an `Idempotency-Key` is answered with what stands when the pause is asked for: it tells no time of a pause that is yet to come.',
        example: { drainPolicy: 'immediate' },
        answers: { 202: json('The run is paused, or about to be.', pausedRun) },
        errors: [...ADDRESS_ERRORS, 'run_terminal', 'run_state_conflict'],
      },
      serve: (call, request, save: Save<Run>) =>
        pauseRun(options, call.principal, runIdIn(served, call), request, save),
      reply: (run, { major }) => ({ status: 202, body: pausedBody(major, run) }),
    }),
    routeWithBody({
      operationId: 'resumeRun',
      scope: 'runs:cancel',
      schema: reasonRequest,
      isBodyOptional: true,
      describes: {
        tag: 'Runs',
        summary: 'Resume a paused run',
        example: {},
        answers: { 202: json('The run goes on.', resumedRun) },
        errors: [...ADDRESS_ERRORS, 'run_terminal', 'run_state_conflict'],
      },
      serve: (call, { reason }, save: Save<Resumed>) =>
        resumeRun(options, call.principal, runIdIn(served, call), reason, save),
      reply: ({ run, resumedAt }, { major }) => ({ status: 202, body: resumedBody(major, run, resumedAt) }),
    }),
  ];

  /** A cancel of one of several: it is refused in its own result. */
  async function cancelOne(call: AuthorizedCall, named: string, reason: string | undefined): Promise<JsonObject> {
    try {
      const runId = bareRunId(served, call, encodeURIComponent(named));
      const { keyName } = call;
      const { run, hadEnded } = await cancelRun(options, call.principal, runId, { reason, keyName });
      const isDone = !hadEnded || isCancelledUnder(keyName, run) || COUNTS_AS_CANCELLED[call.major](run);
      if (!isDone) throw conflict(run, 'cancelled');
      return { runId: named, ok: true, status: run.status };
    } catch (error) {
      const envelope = errorEnvelope[call.major](refusalOf(error, options));
      return { runId: named, ok: false, error: JSON.parse(JSON.stringify(envelope)) };
    }
  }
}

/** A run that had ended: major 1 tells its status, for major 2 it is a conflict. */
const ENDED: Readonly<Record<Major, (run: Run) => JsonObject>> = {
  1: () => ({ alreadyTerminal: true }),
  2: (run) => {
    throw conflict(run, 'cancelled');
  },
};

/** An earlier execution of the same request has cancelled it. */
function isCancelledUnder(keyName: string | undefined, { status, cancelRequest }: Run): boolean {
  return keyName !== undefined && status === 'cancelled' && cancelRequest?.keyName === keyName;
}

/** In major 1 a run that is already cancelled is what the caller wants. */
const COUNTS_AS_CANCELLED: Readonly<Record<Major, (run: Run) => boolean>> = {
  1: ({ status }) => status === 'cancelled',
  2: () => false,
};

function tooMany(): HostError {
  const problem = `must name 1 to ${MOST_RUN_IDS} runs`;
  return new HostError('validation_error', `runIds: ${problem}`, {
    details: { fields: [{ field: 'runIds', problem }], maxRunIds: MOST_RUN_IDS },
  });
}
