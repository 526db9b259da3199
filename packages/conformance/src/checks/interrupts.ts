import { z } from 'zod';
import { area, type RunnableCheck } from '../check.ts';
import { anObject, body, fits, holds, refused, same } from '../expect.ts';
import { APPROVAL, type FixtureName, nodeOf, QUORUM } from '../fixtures.ts';
import { fixture, key, scopes } from '../needs.ts';
import { resourceId, segment } from '../shapes/id.ts';
import { eventOf, logOf, readRun, startRun, untilStatus } from '../steps/runs.ts';
import type { World } from '../world.ts';

const RULE = 'Endpoints: approvals';

/** Approvals: a run waits at its node `gate` for a decision. */
export const interrupts: readonly RunnableCheck[] = area(
  'interrupts',
  { needs: [scopes('runs:create', 'runs:read', 'approvals:respond'), fixture(APPROVAL)] },
  [
    {
      id: 'requested',
      name: '`interrupt.requested` has the kind, the key, the title and the actions of the approval.',
      rule: [RULE, 'interrupts.approval.events'],
      async run(world) {
        const runId = await waiting(world);
        const { payload } = eventOf(await logOf(world, runId), 'interrupt.requested');
        const asked = fits(payload, REQUESTED);
        holds(
          asked.data.actions.includes('accept') && asked.data.actions.includes('reject'),
          'accept and reject in actions',
          asked,
        );
      },
    },
    {
      id: 'suspended',
      name: 'A run that waits for an approval has a `node.suspended` event with its node and its interrupt.',
      rule: [RULE, 'interrupts.approval.events'],
      async run(world) {
        const runId = await waiting(world);
        const { payload } = eventOf(await logOf(world, runId), 'node.suspended');
        const { nodeId } = fits(payload, z.looseObject({ nodeId: z.string(), interruptId: z.string().min(1) }));
        same(nodeId, nodeOf(world.target, APPROVAL), 'nodeId in node.suspended');
      },
    },
    {
      id: 'accepted',
      name: 'Accepting an approval is answered 200 with run, node and status, and the run completes.',
      rule: [RULE, 'interrupts.approval.events'],
      async run(world) {
        const runId = await waiting(world);
        const answer = await resolve(world, runId, 'accept');
        const resolved = body(answer, 200, RESOLVED[world.major]);
        same([resolved.runId, resolved.nodeId], [runId, nodeOf(world.target, APPROVAL)], 'runId and nodeId', answer);
        await untilStatus(world, runId, ['completed']);
        const { payload } = eventOf(await logOf(world, runId), 'interrupt.resolved');
        same(fits(payload, anObject).nodeId, nodeOf(world.target, APPROVAL), 'nodeId in interrupt.resolved');
      },
    },
    {
      id: 'rejected',
      name: 'Rejecting an approval fails the run when the workflow has no other path.',
      rule: [RULE, 'interrupts.approval.events'],
      async run(world) {
        const runId = await waiting(world);
        body(await resolve(world, runId, 'reject'), 200, RESOLVED[world.major]);
        const { error } = await untilStatus(world, runId, ['failed']);
        holds(error !== undefined, 'an error in the snapshot', 'none');
      },
    },
    {
      id: 'resolved-once-409',
      name: 'A second decision on an approval is answered 409 `interrupt_already_resolved`.',
      rule: [RULE, 'interrupts.approval.once'],
      async run(world) {
        const runId = await waiting(world);
        body(await resolve(world, runId, 'accept'), 200, RESOLVED[world.major]);
        refused(await resolve(world, runId, 'reject'), 409, 'interrupt_already_resolved');
        await untilStatus(world, runId, ['completed']);
      },
    },
    {
      id: 'race-one-wins',
      name: 'Of several decisions at the same time, one is answered 200 and the others are answered 409.',
      rule: [RULE, 'interrupts.approval.once'],
      async run(world) {
        const runId = await waiting(world);
        const answers = await Promise.all(
          ['accept', 'accept', 'accept', 'accept'].map((action) => resolve(world, runId, action)),
        );
        same(answers.map(({ status }) => status).sort(), [200, 409, 409, 409], 'the statuses', answers[0]);
        await untilStatus(world, runId, ['completed']);
        const resolved = (await logOf(world, runId)).filter(({ type }) => type === 'interrupt.resolved');
        same(resolved.length, 1, 'the number of interrupt.resolved events');
      },
    },
    {
      id: 'bad-answer-400',
      name: 'A decision without `resumeValue` or with an unoffered action is answered 400, and the run keeps waiting.',
      rule: [RULE, 'interrupts.approval.bad-answer'],
      async run(world) {
        const runId = await waiting(world);
        const place = placeOf(world, runId);
        const decided = { decidedAt: new Date().toISOString() };
        for (const asked of [
          {},
          { resumeValue: { action: 'conformance', ...decided } },
          { resumeValue: { action: 'timeout', ...decided } },
          { resumeValue: { action: 'accept', ...decided }, conformance: true },
        ]) {
          refused(await world.api.post(place, asked), 400, 'validation_error');
        }
        same((await readRun(world.api, runId)).status, 'waiting-approval', 'the status');
      },
    },
    {
      id: 'unknown-node-404',
      name: 'A decision for a node that does not wait is answered 404.',
      rule: [RULE, 'interrupts.approval.bad-answer'],
      async run(world) {
        const runId = await waiting(world);
        const answer = await world.api.post(`/runs/${segment(runId)}/interrupts/conformance-none`, accepting());
        refused(answer, 404, world.major === 1 ? 'interrupt_not_found' : 'not_found');
      },
    },
    {
      id: 'cancelled-run',
      name: 'A decision on a cancelled run is answered 422 `interrupt_cancelled` in major 1 and 409 in major 2.',
      rule: [RULE, 'interrupts.approval.waits'],
      needs: [scopes('runs:cancel')],
      async run(world) {
        const runId = await waiting(world);
        await world.api.post(`/runs/${segment(runId)}/cancel`, {});
        await untilStatus(world, runId, ['cancelled']);
        const answer = await resolve(world, runId, 'accept');
        if (world.major === 1) refused(answer, 422, 'interrupt_cancelled');
        else refused(answer, 409, 'interrupt_already_resolved');
      },
    },
    {
      id: 'quorum-waits',
      name: 'An approval that requires two principals keeps waiting after one of them has accepted, also repeatedly.',
      rule: ['Endpoints', 'interrupts.approval.votes'],
      needs: [fixture(QUORUM)],
      async run(world) {
        const runId = await waiting(world, QUORUM);
        for (const _turn of ['first', 'again']) {
          const { status } = body(await resolve(world, runId, 'accept', QUORUM), 200, RESOLVED[world.major]);
          same(status, 'waiting-approval', 'the status');
        }
      },
    },
    {
      id: 'quorum-veto',
      name: 'One rejection fails an approval that requires two principals, unless its policy is `majority`.',
      rule: ['Endpoints', 'interrupts.approval.quorum'],
      needs: [fixture(QUORUM)],
      async run(world) {
        const runId = await waiting(world, QUORUM);
        body(await resolve(world, runId, 'reject', QUORUM), 200, RESOLVED[world.major]);
        await untilStatus(world, runId, ['failed']);
      },
    },
    {
      id: 'workspace-apart',
      name: 'A decision by a key of another workspace is answered 403 `run_forbidden`, and the run keeps waiting.',
      rule: ['Authorization rules', 'auth.tenancy.workspace-apart'],
      needs: [key('otherWorkspace')],
      async run(world) {
        const runId = await waiting(world);
        const place = placeOf(world, runId);
        refused(await world.as('otherWorkspace').post(place, accepting()), 403, 'run_forbidden');
        same((await readRun(world.api, runId)).status, 'waiting-approval', 'the status');
      },
    },
    {
      id: 'token-invalid-401',
      name: 'An interrupt token that the host did not issue is answered 401, for reading and for deciding.',
      rule: [RULE, 'interrupts.token.forms'],
      async run({ as, major }) {
        const codes = major === 1 ? ['unauthenticated'] : ['interrupt_token_invalid'];
        for (const token of ['conformance', 'Y29uZm9ybWFuY2U.Y29uZm9ybWFuY2U']) {
          refused(await as('nobody').get(`/interrupts/${token}`), 401, ...codes);
          refused(await as('nobody').post(`/interrupts/${token}`, accepting()), 401, ...codes);
        }
      },
    },
  ],
);

/** Creates a run and waits until it waits for its approval. */
async function waiting(world: World, fixtureId: FixtureName = APPROVAL): Promise<string> {
  const { runId } = await startRun(world, fixtureId);
  await untilStatus(world, runId, ['waiting-approval']);
  return runId;
}

function accepting(action = 'accept') {
  return { resumeValue: { action, decidedAt: new Date().toISOString() } };
}

function resolve(world: World, runId: string, action: string, fixtureId: FixtureName = APPROVAL) {
  return world.api.post(placeOf(world, runId, fixtureId), accepting(action));
}

/** Returns the path at which the node of a run is answered. */
function placeOf({ target }: World, runId: string, fixtureId: FixtureName = APPROVAL): string {
  return `/runs/${segment(runId)}/interrupts/${segment(nodeOf(target, fixtureId))}`;
}

const REQUESTED = z.looseObject({
  kind: z.literal('approval'),
  key: z.string().min(1).max(256),
  data: z.looseObject({ title: z.string(), actions: z.array(z.string()).min(1) }),
});

const FIELDS = { nodeId: z.string(), status: z.string() };
const RESOLVED = {
  1: z.looseObject({ runId: resourceId[1], ...FIELDS }),
  2: z.looseObject({ runId: resourceId[2], ...FIELDS }),
} as const;
