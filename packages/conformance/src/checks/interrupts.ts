import { z } from 'zod';
import { area, type Check } from '../check.ts';
import { anObject, body, fits, holds, refused, same } from '../expect.ts';
import { fixture, key, scopes } from '../needs.ts';
import { resourceId, segment } from '../shapes/id.ts';
import { APPROVAL, eventOf, GATE, logOf, readRun, startRun, untilStatus } from '../steps/runs.ts';
import type { World } from '../world.ts';

const RULE = 'Endpoints: approvals';

/** Approvals: a run waits at a gate until somebody who may do so answers. */
export const interrupts: readonly Check[] = area(
  'interrupts',
  { needs: [scopes('runs:create', 'runs:read', 'approvals:respond'), fixture(APPROVAL)] },
  [
    {
      id: 'requested',
      name: 'A run that waits at a gate tells what it asks: its kind, its key, its title and the actions to choose from.',
      rule: RULE,
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
      name: 'The gate is suspended, and the log names its node and its interrupt.',
      rule: RULE,
      async run(world) {
        const runId = await waiting(world);
        const { payload } = eventOf(await logOf(world, runId), 'node.suspended');
        const { nodeId } = fits(payload, z.looseObject({ nodeId: z.string(), interruptId: z.string().min(1) }));
        same(nodeId, GATE, 'nodeId in node.suspended');
      },
    },
    {
      id: 'accepted',
      name: 'Accepting answers 200 with the run, the node and the status, and lets the run complete.',
      rule: RULE,
      async run(world) {
        const runId = await waiting(world);
        const answer = await resolve(world, runId, 'accept');
        const resolved = body(answer, 200, RESOLVED[world.major]);
        same([resolved.runId, resolved.nodeId], [runId, GATE], 'runId and nodeId', answer);
        await untilStatus(world, runId, ['completed']);
        const { payload } = eventOf(await logOf(world, runId), 'interrupt.resolved');
        same(fits(payload, anObject).nodeId, GATE, 'nodeId in interrupt.resolved');
      },
    },
    {
      id: 'rejected',
      name: 'Rejecting at a gate that nothing leads around fails the run.',
      rule: RULE,
      async run(world) {
        const runId = await waiting(world);
        body(await resolve(world, runId, 'reject'), 200, RESOLVED[world.major]);
        const { error } = await untilStatus(world, runId, ['failed']);
        holds(error !== undefined, 'an error in the snapshot', 'none');
      },
    },
    {
      id: 'resolved-once-409',
      name: 'A gate is answered once: a second answer is 409 interrupt_already_resolved.',
      rule: RULE,
      async run(world) {
        const runId = await waiting(world);
        body(await resolve(world, runId, 'accept'), 200, RESOLVED[world.major]);
        refused(await resolve(world, runId, 'reject'), 409, 'interrupt_already_resolved');
        await untilStatus(world, runId, ['completed']);
      },
    },
    {
      id: 'race-one-wins',
      name: 'Of answers that are given at the same time one counts, and the others are 409.',
      rule: RULE,
      async run(world) {
        const runId = await waiting(world);
        const answers = await Promise.all(
          ['accept', 'accept', 'accept', 'accept'].map((action) => resolve(world, runId, action)),
        );
        same(answers.map(({ status }) => status).sort(), [200, 409, 409, 409], 'the statuses', answers[0]);
        await untilStatus(world, runId, ['completed']);
        const resolved = (await logOf(world, runId)).filter(({ type }) => type === 'interrupt.resolved');
        same(resolved.length, 1, 'the number of interrupt.resolved');
      },
    },
    {
      id: 'bad-answer-400',
      name: 'An action that is not offered, or a body without resumeValue, answers 400, and the run goes on waiting.',
      rule: RULE,
      async run(world) {
        const runId = await waiting(world);
        const place = `/runs/${segment(runId)}/interrupts/${GATE}`;
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
      name: 'A node that does not wait answers 404.',
      rule: RULE,
      async run(world) {
        const runId = await waiting(world);
        const answer = await world.api.post(`/runs/${segment(runId)}/interrupts/conformance-none`, accepting());
        refused(answer, 404, world.major === 1 ? 'interrupt_not_found' : 'not_found');
      },
    },
    {
      id: 'cancelled-run',
      name: 'The gate of a run that was cancelled takes no answer: 422 interrupt_cancelled in major 1, 409 in major 2.',
      rule: RULE,
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
      id: 'workspace-apart',
      name: 'Nobody of another workspace answers at a gate: 403 run_forbidden, and the run goes on waiting.',
      rule: ['Authorization rules', 'auth.tenancy.workspace-apart'],
      needs: [key('otherWorkspace')],
      async run(world) {
        const runId = await waiting(world);
        const place = `/runs/${segment(runId)}/interrupts/${GATE}`;
        refused(await world.as('otherWorkspace').post(place, accepting()), 403, 'run_forbidden');
        same((await readRun(world.api, runId)).status, 'waiting-approval', 'the status');
      },
    },
    {
      id: 'token-invalid-401',
      name: 'A token that the host did not make answers 401, to reading and to answering alike.',
      rule: RULE,
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

/** A run that waits at its gate. */
async function waiting(world: World): Promise<string> {
  const { runId } = await startRun(world, APPROVAL);
  await untilStatus(world, runId, ['waiting-approval']);
  return runId;
}

function accepting(action = 'accept') {
  return { resumeValue: { action, decidedAt: new Date().toISOString() } };
}

function resolve({ api }: World, runId: string, action: string) {
  return api.post(`/runs/${segment(runId)}/interrupts/${GATE}`, accepting(action));
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
