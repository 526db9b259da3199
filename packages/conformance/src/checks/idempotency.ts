import { area, type RunnableCheck } from '../check.ts';
import { body, header, holds, refused, same, status } from '../expect.ts';
import { IDEMPOTENT, workflowId } from '../fixtures.ts';
import { described } from '../http/answer.ts';
import { capability, fixture, key, scopes } from '../needs.ts';
import { segment } from '../shapes/id.ts';
import { createdRun } from '../shapes/run.ts';
import { endedRun } from '../steps/runs.ts';
import type { World } from '../world.ts';

const RULE = 'Endpoints: Idempotency-Key';
const MARKER = 'SVC-Idempotent-Replay';

/** Requests that are repeated with one `Idempotency-Key`. */
export const idempotency: readonly RunnableCheck[] = area(
  'idempotency',
  { needs: [scopes('runs:create', 'runs:read'), capability('idempotency'), fixture(IDEMPOTENT)] },
  [
    {
      id: 'replayed',
      name: 'A repeated creation is answered with the same run and `SVC-Idempotent-Replay: true`.',
      rule: [RULE, 'operations.idempotency.once'],
      async run(world) {
        const headers = { 'Idempotency-Key': newKey() };
        const first = await create(world, headers);
        const { runId } = body(first, 201, createdRun[world.major]);
        holds(
          first.header(MARKER) === undefined,
          `no ${MARKER} on the first response`,
          String(first.header(MARKER)),
          first,
        );
        const again = await create(world, headers);
        same(body(again, 201, createdRun[world.major]).runId, runId, 'runId', again);
        header(again, MARKER, 'true');
      },
    },
    {
      id: 'mismatch-409',
      name: 'The same key with another body is answered 409 `idempotency_key_mismatch`.',
      rule: [RULE, 'operations.idempotency.mismatch'],
      async run(world) {
        const headers = { 'Idempotency-Key': newKey() };
        status(await create(world, headers), 201);
        refused(await create(world, headers, 'another'), 409, 'idempotency_key_mismatch');
      },
    },
    {
      id: 'concurrent',
      name: 'Of equal requests at the same time, one creates a run; the others get it or 409 `idempotency_in_flight`.',
      rule: [RULE, 'operations.idempotency.concurrent'],
      async run(world) {
        const headers = { 'Idempotency-Key': newKey() };
        const answers = await Promise.all(Array.from({ length: 5 }, () => create(world, headers)));
        const created = answers.filter((answer) => answer.status === 201);
        const runs = new Set(created.map((answer) => body(answer, 201, createdRun[world.major]).runId));
        same(runs.size, 1, 'the number of runs', answers[0]);
        for (const answer of answers) {
          if (answer.status === 201) continue;
          refused(answer, 409, 'idempotency_in_flight');
          if (world.major === 2) header(answer, 'Retry-After', /^[0-9]+$/);
        }
      },
    },
    {
      id: 'refusal-not-kept',
      name: 'A key of a request that was answered 400 can be used again with a valid body.',
      rule: [RULE, 'operations.idempotency.not-kept'],
      async run(world) {
        const headers = { 'Idempotency-Key': newKey() };
        refused(await world.api.post('/runs', { workflowId: '' }, { headers }), 400, 'validation_error');
        status(await create(world, headers), 201);
      },
    },
    {
      id: 'key-form-400',
      name: 'A key outside the grammar of major 2 is answered 400 `idempotency_key_invalid`.',
      rule: [RULE, 'operations.idempotency.key-v2'],
      majors: [2],
      async run(world) {
        for (const bad of ['short', 'x'.repeat(129), 'has spaces in it, and commas', `${'a'.repeat(30)}/`]) {
          refused(await create(world, { 'Idempotency-Key': bad }), 400, 'idempotency_key_invalid');
        }
      },
    },
    {
      id: 'per-operation',
      name: 'A key of one operation can be used for another operation.',
      rule: [RULE, 'operations.idempotency.mismatch'],
      needs: [scopes('runs:cancel')],
      async run(world) {
        const headers = { 'Idempotency-Key': newKey() };
        status(await create(world, headers), 201);
        const { runId } = await endedRun(world);
        const answer = await world.api.post(`/runs/${segment(runId)}/cancel`, {}, { headers });
        holds(answer.header(MARKER) === undefined, `no ${MARKER}`, described(answer), answer);
        status(answer, world.major === 1 ? 200 : 409);
      },
    },
    {
      id: 'per-tenant',
      name: 'A key of one tenant can be used by another tenant, which gets a run of its own.',
      rule: [RULE, 'operations.idempotency.tenants-apart'],
      needs: [key('otherTenant')],
      async run(world) {
        const headers = { 'Idempotency-Key': newKey() };
        const { runId } = body(await create(world, headers), 201, createdRun[world.major]);
        const asked = { workflowId: workflowId(world.target, IDEMPOTENT), inputs: { nonce: 'one' }, tags: [world.tag] };
        const answer = await world.as('otherTenant').post('/runs', asked, { headers });
        const other = body(answer, 201, createdRun[world.major]);
        holds(
          other.runId !== runId && answer.header(MARKER) === undefined,
          'a run of its own',
          described(answer),
          answer,
        );
      },
    },
  ],
);

/** Makes a key in the grammar of both majors. */
function newKey(): string {
  return `${crypto.randomUUID()}${crypto.randomUUID()}`.replaceAll('-', '');
}

function create({ api, tag, target }: World, headers: Readonly<Record<string, string>>, nonce = 'one') {
  const asked = { workflowId: workflowId(target, IDEMPOTENT), inputs: { nonce }, tags: [tag] };
  return api.post('/runs', asked, { headers });
}
