import type { Major, Served } from '@svc/versioning';
import { HostError, type HostErrorCode } from '../errors.ts';
import type { Executor } from '../execution/executor.ts';
import { matchesEtag } from '../http/conditional.ts';
import { empty, json } from '../http/description.ts';
import { type Route, route, routeWithBody } from '../http/route.ts';
import type { Save } from '../ports/idempotency.ts';
import type { Run } from '../ports/runs.ts';
import { type CreateRunOptions, createRun, RunActive } from '../runs/create.ts';
import type { Snapshots } from '../streams/snapshots.ts';
import type { TellUnheard } from '../webhooks/unheard-runs.ts';
import { runIdOf } from '../wire/event.ts';
import { createdBody, createdRun, runRequest, runRequestExample, snapshot, snapshotBody } from '../wire/run.ts';
import { creationHeaders, creationIn } from '../wire/run-headers.ts';
import { unservedMember } from '../wire/unserved-member.ts';
import { addressedRun } from './run-address.ts';

/** The options of routes that create runs. */
export interface RunRoutesOptions extends CreateRunOptions {
  readonly executor: Pick<Executor, 'execute'>;
  readonly served: Pick<Served, 'overlap' | 'majors'>;
  readonly tellUnheard: TellUnheard;
  readonly snapshots: Snapshots;
}

/** Defines the routes that create and read runs. */
export function runRoutes(options: RunRoutesOptions): Route[] {
  const { store, executor, served, snapshots } = options;
  return [
    routeWithBody({
      operationId: 'createRun',
      scope: 'runs:create',
      schema: runRequest(options.engine.configurable ?? []),
      refusal: unservedMember,
      describes: {
        tag: 'Runs',
        summary: 'Create a run',
        description:
          'When the response arrives, the run is durable: it is executed even if the host restarts. Without `tenantId` ' +
          'it belongs to the first workspace of the credential; a credential for all workspaces then creates a run ' +
          'of no workspace, whose events reach no subscription of major 1.',
        example: runRequestExample,
        headers: creationHeaders,
        answers: { 201: json('The run, with the URLs of its status and events.', createdRun) },
        errors: {
          1: ['run_already_active', 'force_engine_version_forbidden', 'capability_not_provided', ...aiErrors(options)],
          2: ['run_already_active', 'force_engine_version_forbidden', ...aiErrors(options)],
        },
      },
      async serve({ major, principal, headers, decided }, request, save: Save<Run>) {
        const asked = { ...request, ...creationIn(headers, major, request.scopeId) };
        const run = await createRun(options, principal, asked, save).catch((error: unknown) => {
          throw error instanceof RunActive ? alreadyActive(major, error.run) : error;
        });
        await options.tellUnheard(run);
        executor.execute(run, decided && { type: 'authorization.decided', payload: { ...decided } });
        return run;
      },
      reply: (run, { major }) => ({ status: 201, body: createdBody(major, run) }),
    }),
    route({
      operationId: 'readRun',
      scope: 'runs:read',
      describes: {
        tag: 'Runs',
        summary: 'Read a run',
        description:
          'The snapshot of a run: its status, owner, tags, metadata and values. The outputs of the run are in the event ' +
          '`run.completed`.',
        answers: {
          200: json('The current state of the run.', snapshot, { headers: ['ETag', 'Cache-Control'] }),
          304: empty('The run has not changed.', { headers: ['ETag', 'Cache-Control'] }),
        },
        errors: ['not_found', 'run_forbidden', 'id_tenant_mismatch'],
      },
      async serve(call) {
        const { major, headers } = call;
        const run = await addressedRun({ store, served }, call);
        // An observable change has an event, except for the request to cancel, which changes only the status.
        const etag = `"${run.runId}.${run.lastSequence}.${run.status}.${major}"`;
        if (matchesEtag(headers.get('if-none-match'), etag)) return { status: 304, headers: { etag, ...PRIVATE } };
        const { values } = await snapshots.read(run);
        return { status: 200, headers: { etag, ...PRIVATE }, body: snapshotBody(major, run, values) };
      },
    }),
  ];
}

/** The errors about `configurable.ai`, for an engine that understands it. */
export function aiErrors({ engine }: Pick<CreateRunOptions, 'engine'>): readonly HostErrorCode[] {
  return engine.configurable?.includes('ai') === true ? ['mock_provider_forbidden', 'credential_forbidden'] : [];
}

function alreadyActive(major: Major, run: Run): HostError {
  const message =
    'A run of this scopeId is active. Wait for its end, or create the run without requiring it to be the only one.';
  return new HostError('run_already_active', message, {
    details: { activeRunId: runIdOf[major](run), activeHost: 'cloud', retryAfter: RETRY_AFTER_SECONDS },
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  });
}

const RETRY_AFTER_SECONDS = 5;
const PRIVATE = { 'cache-control': 'private, no-cache' };
