import type { Major, Served } from '@svc/versioning';
import { bindId, resolveId } from '@svc/versioning/ids';
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

/** Defines the routes that cancel, pause and resume runs. */
export function runOperationRoutes(options: RunOperationRoutesOptions): Route[] {
  return [cancelRoute(options), bulkCancelRoute(options), pauseRoute(options), resumeRoute(options)];
}

function cancelRoute(options: RunOperationRoutesOptions): Route {
  return routeWithBody({
    operationId: 'cancelRun',
    scope: 'runs:cancel',
    schema: reasonRequest,
    isBodyOptional: true,
    describes: {
      tag: 'Runs',
      summary: 'Cancel a run',
      description: 'The run ends within five seconds.',
      example: { reason: 'no longer needed' },
      answers: { 200: json('The run is cancelled, or is being cancelled.', cancelled) },
      errors: { 1: ADDRESS_ERRORS, 2: [...ADDRESS_ERRORS, 'run_terminal'] },
    },
    serve: (call, { reason }, save: Save<Cancelled>) =>
      cancelRun(options, call.principal, runIdIn(options.served, call), { reason }, save),
    reply: ({ run, hadEnded }, { major }) => ({
      status: 200,
      body: { ...cancelledBody(major, run), ...(hadEnded && ENDED[major](run)) },
    }),
  });
}

function bulkCancelRoute(options: RunOperationRoutesOptions): Route {
  return routeWithBody({
    operationId: 'bulkCancelRuns',
    scope: 'runs:cancel',
    schema: bulkCancelRequest,
    describes: {
      tag: 'Runs',
      summary: 'Cancel several runs',
      description: 'Each run is cancelled or refused on its own.',
      example: {
        1: { runIds: ['run_01k0p3v5tq9d8m2x4c6b8n0r1s'] },
        2: { runIds: ['acme/run_01k0p3v5tq9d8m2x4c6b8n0r1s'] },
      },
      answers: { 200: json('The result of each run.', bulkCancelled) },
    },
    // One transaction for each run, so that a hundred runs do not block other writers. The reply is stored after the
    // last one. If the host dies before that, a repeated request recognizes the runs that it cancelled by its key, and
    // continues behind them.
    async serve(call, { runIds, reason }) {
      if (runIds.length < 1 || runIds.length > MOST_RUN_IDS) throw tooMany();
      const results: JsonObject[] = [];
      for (const runId of runIds) results.push(await cancelOne(options, call, runId, reason));
      return { status: 200, body: { results } };
    },
  });
}

function pauseRoute(options: RunOperationRoutesOptions): Route {
  return routeWithBody({
    operationId: 'pauseRun',
    scope: 'runs:cancel',
    schema: pauseRequest,
    isBodyOptional: true,
    describes: {
      tag: 'Runs',
      summary: 'Pause a run',
      description:
        'The reply to a request with an `Idempotency-Key` is stored when the pause is requested, so it has no ' +
        '`pausedAt` if a node is still running.',
      example: { drainPolicy: 'immediate' },
      answers: { 202: json('The run is paused, or a pause is requested.', pausedRun) },
      errors: [...ADDRESS_ERRORS, 'run_terminal', 'run_state_conflict'],
    },
    serve: (call, request, save: Save<Run>) =>
      pauseRun(options, call.principal, runIdIn(options.served, call), request, save),
    reply: (run, { major }) => ({ status: 202, body: pausedBody(major, run) }),
  });
}

function resumeRoute(options: RunOperationRoutesOptions): Route {
  return routeWithBody({
    operationId: 'resumeRun',
    scope: 'runs:cancel',
    schema: reasonRequest,
    isBodyOptional: true,
    describes: {
      tag: 'Runs',
      summary: 'Resume a paused run',
      description: 'The run continues with the node after the last one that completed.',
      example: {},
      answers: { 202: json('The run continues.', resumedRun) },
      errors: [...ADDRESS_ERRORS, 'run_terminal', 'run_state_conflict'],
    },
    serve: (call, { reason }, save: Save<Resumed>) =>
      resumeRun(options, call.principal, runIdIn(options.served, call), reason, save),
    reply: ({ run, resumedAt }, { major }) => ({ status: 202, body: resumedBody(major, run, resumedAt) }),
  });
}

/** Cancels one of several runs. A refusal becomes the result of this run. */
async function cancelOne(
  options: RunOperationRoutesOptions,
  call: AuthorizedCall,
  named: string,
  reason: string | undefined,
): Promise<JsonObject> {
  const shown = NAMED[call.major](named, call.principal.tenancy.tenant);
  try {
    const runId = bareRunId(options.served, call, encodeURIComponent(named));
    const { keyName } = call;
    const { run, hadEnded } = await cancelRun(options, call.principal, runId, { reason, keyName });
    const isDone = !hadEnded || isCancelledUnder(keyName, run) || COUNTS_AS_CANCELLED[call.major](run);
    if (!isDone) throw conflict(run, 'cancelled');
    return { runId: shown, ok: true, status: run.status };
  } catch (error) {
    const envelope = errorEnvelope[call.major](refusalOf(error, options));
    return { runId: shown, ok: false, error: JSON.parse(JSON.stringify(envelope)) };
  }
}

/** The id of a run in a result. No response of major 2 has a bare id, even when the request names one. */
const NAMED: Readonly<Record<Major, (named: string, tenant: string) => string>> = {
  1: (named) => named,
  2(named, tenant) {
    const resolved = resolveId(encodeURIComponent(named), { tenant, major: 2, overlap: true });
    if (resolved.ok) return bindId(tenant, resolved.id);
    return named.includes('/') ? named : bindId(tenant, named);
  },
};

/** Cancelling a run that has ended: major 1 replies with its status, major 2 with a conflict. */
const ENDED: Readonly<Record<Major, (run: Run) => JsonObject>> = {
  1: () => ({ alreadyTerminal: true }),
  2: (run) => {
    throw conflict(run, 'cancelled');
  },
};

/** Returns true when an earlier execution of the same request cancelled the run. */
function isCancelledUnder(keyName: string | undefined, { status, cancelRequest }: Run): boolean {
  return keyName !== undefined && status === 'cancelled' && cancelRequest?.keyName === keyName;
}

/** In a bulk cancel, major 1 counts a run that was already cancelled as a success. */
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
