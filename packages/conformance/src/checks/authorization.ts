import { area, type RunnableCheck } from '../check.ts';
import { body, fits, header, holds, refused, same, status } from '../expect.ts';
import { CANCELLABLE, NOOP } from '../fixtures.ts';
import { described } from '../http/answer.ts';
import { Inapplicable } from '../mismatch.ts';
import { fixture, key, overlap, scopes, tenant, workspace } from '../needs.ts';
import { bareId, segment, unknownId } from '../shapes/id.ts';
import { OWNER, snapshot } from '../shapes/run.ts';
import { endedRun, logOf, readRun, startRun } from '../steps/runs.ts';
import { COMPLETED, placeOf, register, SILENT_URL } from '../steps/webhooks.ts';
import type { World } from '../world.ts';
import { scoped } from './operations.ts';

const KEYS = 'Authentication: 1. API keys';
const RULES = 'Authorization rules';

/** Permissions of a caller: scopes, tenant, workspace, mode of its key, rate limit. */
export const authorization: readonly RunnableCheck[] = area('authorization', {}, [
  {
    id: 'missing-scope-403',
    name: 'Every operation is answered 403 `forbidden` with `scopeRequired` when the key lacks its scope.',
    rule: ['Endpoints', 'operations.routes.required-scope'],
    needs: [key('readOnly')],
    async run({ as, major, target }) {
      for (const { scope, method, path, body: asked } of scoped(major, target)) {
        if (scope === 'runs:read') continue;
        const answer = await as('readOnly').call(method, path, { body: asked });
        const { scopeRequired, details } = refused(answer, 403, 'forbidden');
        same(major === 1 ? scopeRequired : details?.scopeRequired, scope, 'scopeRequired', answer);
      }
    },
  },
  {
    id: 'insufficient-scope',
    name: 'The 403 for a missing scope has a `Bearer` challenge with `error="insufficient_scope"`.',
    rule: ['Authentication', 'auth.challenge.insufficient-scope'],
    needs: [key('readOnly')],
    async run({ as }) {
      const answer = status(await as('readOnly').post('/runs', {}), 403);
      header(answer, 'WWW-Authenticate', /\bBearer\b.*\berror="insufficient_scope"/);
    },
  },
  {
    id: 'scope-before-body',
    name: 'The scope is checked before the body: a key without it is answered 403 even when the body is not JSON.',
    rule: ['Authorization rules', 'auth.request.order'],
    needs: [key('readOnly')],
    async run({ as }) {
      refused(await as('readOnly').post('/runs', '{ not even JSON'), 403, 'forbidden');
    },
  },
  {
    id: 'scopes-apart',
    name: 'A scope grants only its own operations: `runs:read` reads a run and cannot cancel it.',
    rule: [KEYS, 'auth.scopes.per-operation'],
    needs: [key('readOnly'), scopes('runs:create', 'runs:read'), fixture(CANCELLABLE)],
    async run(world) {
      const { runId } = await startRun(world, CANCELLABLE, { inputs: { delayMs: 20_000 } });
      await readRun(world.as('readOnly'), runId);
      refused(await world.as('readOnly').post(`/runs/${segment(runId)}/cancel`, {}), 403, 'forbidden');
      const { status: now } = await readRun(world.api, runId);
      holds(!now.startsWith('cancel'), 'the run to keep running', now);
    },
  },
  {
    id: 'scope-required-403-only',
    name: '`scopeRequired` appears only in the 403 for a missing scope.',
    rule: ['Error envelope', 'errors.envelope.scope-required-403-only'],
    needs: [scopes('runs:create', 'runs:read')],
    async run({ as, api, major, target }) {
      for (const answer of [
        await as('nobody').get('/runs/none'),
        await api.post('/runs', {}),
        await api.get(`/runs/${segment(unknownId(major, target.tenant))}`),
      ]) {
        const { scopeRequired, details } = refused(answer, answer.status);
        holds((scopeRequired ?? details?.scopeRequired) === undefined, 'no scopeRequired', described(answer), answer);
      }
    },
  },
  {
    id: 'tenant-apart',
    name: 'A caller of another tenant cannot read, cancel or pause a run, and gets the response for an unknown run.',
    rule: [RULES, 'auth.tenancy.tenant-apart'],
    needs: [key('otherTenant'), scopes('runs:create', 'runs:read'), fixture(CANCELLABLE)],
    async run(world) {
      const stranger = world.as('otherTenant');
      const { runId } = await startRun(world, CANCELLABLE, { inputs: { delayMs: 20_000 } });
      const run = `/runs/${segment(runId)}`;
      for (const answer of [
        await stranger.get(run),
        await stranger.get(`${run}/events/poll?timeout=1`),
        await stranger.get(`${run}/events`),
        await stranger.get(`${run}/artifacts/none`),
        await stranger.post(`${run}/cancel`, {}),
        await stranger.post(`${run}:pause`, {}),
      ]) {
        if (world.major === 1) refused(answer, 404);
        else refused(answer, 403, 'id_tenant_mismatch');
      }
      const { status: now } = await readRun(world.api, runId);
      holds(!now.startsWith('cancel') && now !== 'paused', 'the run to keep running', now);
    },
  },
  {
    id: 'tenant-mismatch-before-lookup',
    name: 'An unknown id that is bound to another tenant is answered 403 `id_tenant_mismatch`.',
    rule: ['Versioning: Overlap behaviour', 'versioning.ids.tenant-mismatch-403'],
    majors: [2],
    needs: [key('otherTenant'), tenant],
    async run({ as, target }) {
      const absent = segment(unknownId(2, target.tenant));
      for (const path of [`/runs/${absent}`, `/webhooks/${absent}/dead-letters`]) {
        refused(await as('otherTenant').get(path), 403, 'id_tenant_mismatch');
      }
      refused(await as('otherTenant').delete(`/webhooks/${absent}`), 403, 'id_tenant_mismatch');
    },
  },
  {
    id: 'tenant-apart-bare',
    name: "A bare id is looked up only in the caller's tenant: the bare id of another tenant's run is answered 404.",
    rule: [RULES, 'auth.tenancy.other-tenant-404'],
    majors: [2],
    needs: [overlap, key('otherTenant'), scopes('runs:create'), fixture(NOOP)],
    async run(world) {
      const { runId } = await startRun(world, NOOP);
      refused(await world.as('otherTenant').get(`/runs/${bareId(runId)}`), 404);
    },
  },
  {
    id: 'workspace-apart',
    name: 'A caller of another workspace that reads or cancels a run is answered 403 `run_forbidden`.',
    rule: [RULES, 'auth.tenancy.workspace-run-forbidden'],
    needs: [key('otherWorkspace'), scopes('runs:create', 'runs:read'), fixture(CANCELLABLE)],
    async run(world) {
      const neighbour = world.as('otherWorkspace');
      const { runId } = await startRun(world, CANCELLABLE, { inputs: { delayMs: 20_000 } });
      const run = `/runs/${segment(runId)}`;
      for (const answer of [
        await neighbour.get(run),
        await neighbour.get(`${run}/events/poll?timeout=1`),
        await neighbour.get(`${run}/events`),
        await neighbour.post(`${run}/cancel`, {}),
      ]) {
        refused(answer, 403, 'run_forbidden');
      }
      const { status: now } = await readRun(world.api, runId);
      holds(!now.startsWith('cancel'), 'the run to keep running', now);
    },
  },
  {
    id: 'webhook-tenant-apart',
    name: 'A caller of another tenant cannot unregister a subscription.',
    rule: ['Endpoints', 'operations.webhooks.v2-unregister-403'],
    needs: [key('otherTenant'), scopes('webhooks:manage'), workspace],
    async run(world) {
      const { webhookId } = await register(world, world.api, { url: SILENT_URL, events: [COMPLETED] });
      const place = placeOf(world, world.major, webhookId);
      const answer = await world.as('otherTenant').delete(place);
      // Major 1 checks the membership of the named workspace before it looks up the subscription.
      if (world.major === 1) refused(answer, 403, 'forbidden');
      else refused(answer, 403, 'id_tenant_mismatch');
      status(await world.api.delete(place), 204);
    },
  },
  {
    id: 'test-live-apart',
    name: 'A live run is answered 404 to a test key, and a test run is answered 404 to a live key.',
    rule: [RULES, 'auth.tenancy.test-live-apart'],
    needs: [key('test'), scopes('runs:create', 'runs:read'), fixture(NOOP)],
    async run(world) {
      const test = world.as('test');
      const live = await startRun(world, NOOP);
      refused(await test.get(`/runs/${segment(live.runId)}`), 404);
      refused(await test.post(`/runs/${segment(live.runId)}/cancel`, {}), 404);
      const tested = await startRun(world, NOOP, {}, test);
      refused(await world.api.get(`/runs/${segment(tested.runId)}`), 404);
    },
  },
  {
    id: 'mode-marked',
    name: 'A run has `mode: test` when a test key created it, and `mode: live` when a live key did.',
    rule: [RULES, 'auth.tenancy.mode-marked'],
    needs: [key('test'), scopes('runs:create', 'runs:read'), fixture(NOOP)],
    async run(world) {
      for (const [api, mode] of [
        [world.as('test'), 'test'],
        [world.api, 'live'],
      ] as const) {
        const { runId } = await startRun(world, NOOP, {}, api);
        const answer = await api.get(`/runs/${segment(runId)}`);
        same(body(answer, 200, snapshot[world.major]).mode, mode, 'mode', answer);
      }
    },
  },
  {
    id: 'owner-recorded',
    name: 'The `owner` of a run is the identity that created it, in the form of the major.',
    rule: ['Run owner (identity triple)', 'runs.owner.recorded'],
    level: 'SHOULD',
    needs: [scopes('runs:create', 'runs:read'), fixture(NOOP)],
    async run(world) {
      const { owner } = await endedRun(world);
      const { tenant: owning } = fits(owner, OWNER[world.major]);
      if (world.target.tenant !== undefined) same(owning, world.target.tenant, 'owner.tenant');
    },
  },
  {
    id: 'owner-echoed',
    name: 'The payload of `run.started` contains the same `owner` as the run.',
    rule: ['Run owner (identity triple)', 'runs.owner.echoed-on-started'],
    level: 'SHOULD',
    needs: [scopes('runs:create', 'runs:read'), fixture(NOOP)],
    async run(world) {
      const { runId, owner } = await endedRun(world);
      const [started] = await logOf(world, runId);
      const payload = started?.payload;
      const echoed = typeof payload === 'object' && payload !== null && 'owner' in payload ? payload.owner : undefined;
      same(echoed, owner, 'the owner in run.started');
    },
  },
  {
    id: 'rate-limit-429',
    name: 'A key over its rate limit is answered 429 `rate_limited` with `Retry-After` in whole seconds.',
    rule: ['Errors', 'errors.code.rate-limited'],
    needs: [key('spare')],
    async run(world) {
      const answer = await overLimit(world);
      refused(answer, 429, 'rate_limited');
      header(answer, 'Retry-After', /^[0-9]+$/);
    },
  },
  {
    id: 'rate-limit-details',
    name: 'A 429 of major 1 describes the limit in `details`; one of major 2 has its retry timing in the header alone.',
    rule: ['Errors', 'errors.rate-limited.v1-details'],
    needs: [key('spare')],
    async run(world) {
      const answer = await overLimit(world);
      const { details = {} } = refused(answer, 429, 'rate_limited');
      if (world.major === 2) return;
      for (const member of ['window', 'limit', 'current', 'retryAfterSeconds']) {
        holds(member in details, `details.${member}`, described(answer), answer);
      }
    },
  },
  {
    id: 'rate-limit-before-scope',
    name: 'The rate limit is checked before the scope: over it, an operation without its scope is answered 429.',
    rule: [RULES, 'auth.rate-limit.before-scope'],
    needs: [key('spare')],
    async run(world) {
      let answer = await overLimit(world);
      for (let again = 0; again < 3; again += 1) {
        answer = await world.as('spare').post('/runs:bulk-cancel', '{ not even JSON', { returns429: true });
        if (answer.status === 429) return;
        // The window of the limit may end between the two requests.
        await overLimit(world);
      }
      status(answer, 429);
    },
  },
  {
    id: 'rate-limit-per-key',
    name: 'Rate limits count per key: a key at its limit does not limit another key.',
    rule: ['Limits', 'auth.rate-limit.per-key'],
    needs: [key('spare'), key('main')],
    async run(world) {
      await overLimit(world);
      const answer = await world.api.get('/runs/none', { returns429: true });
      holds(answer.status !== 429, 'a status other than 429 for another key', described(answer), answer);
    },
  },
]);

/**
 * Sends requests with the spare key until one is answered 429.
 *
 * @throws {Inapplicable} when none is within 1000 requests or 20 s
 */
async function overLimit({ as }: World) {
  const spare = as('spare');
  const end = performance.now() + PROBING_MS;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, () => spare.get('/runs/none', { returns429: true })),
    );
    const limited = answers.find((answer) => answer.status === 429);
    if (limited !== undefined) return limited;
    const unexpected = answers.find((answer) => answer.status >= 500);
    if (unexpected !== undefined) return unexpected;
    // A host without this limit may be slow. That is no failure of the limit.
    if (performance.now() > end)
      throw new Inapplicable(`the spare key was not rate-limited within ${PROBING_MS / 1000} s`);
  }
  throw new Inapplicable(`the spare key was not rate-limited within ${MOST_ROUNDS * AT_ONCE} requests`);
}

const AT_ONCE = 20;
const MOST_ROUNDS = 50;
const PROBING_MS = 20_000;
