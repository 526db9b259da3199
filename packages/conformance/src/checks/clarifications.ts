import { z } from 'zod';
import { area, type RunnableCheck } from '../check.ts';
import { anObject, body, fits, holds, refused, same } from '../expect.ts';
import { CLARIFICATION, nodeOf } from '../fixtures.ts';
import { fixture, scopes } from '../needs.ts';
import { eventOf, logOf, untilStatus } from '../steps/runs.ts';
import { waitingFixture } from '../steps/waiting-fixture.ts';

const { waiting, answer } = waitingFixture(CLARIFICATION, {
  status: 'waiting-input',
  resumeValue: { answers: { q1: 'blue' } },
});

const STATES = 'States and transitions';

/** Clarifications: a run waits at its node `ask` for the answers of a person. */
export const clarifications: readonly RunnableCheck[] = area(
  'clarifications',
  { needs: [scopes('runs:create', 'runs:read', 'approvals:respond'), fixture(CLARIFICATION)] },
  [
    {
      id: 'waits',
      name: 'A run that asks a clarification has the status `waiting-input` and names its node.',
      rule: [STATES, 'interrupts.clarification.waits'],
      async run(world) {
        const run = await waiting(world);
        same(fits(run, anObject).currentNodeId, nodeOf(world.target, CLARIFICATION), 'currentNodeId');
      },
    },
    {
      id: 'requested',
      name: '`interrupt.requested` has the kind, the key and the questions of the clarification.',
      rule: [STATES, 'interrupts.clarification.waits'],
      async run(world) {
        const { runId } = await waiting(world);
        fits(eventOf(await logOf(world, runId), 'interrupt.requested').payload, REQUESTED);
      },
    },
    {
      id: 'own-types',
      name: 'A clarification also has the events `clarification.requested` and `clarification.resolved`.',
      rule: ['Events', 'interrupts.clarification.events'],
      level: 'SHOULD',
      async run(world) {
        const { runId } = await waiting(world);
        body(await answer(world, runId), 200, ANSWERED);
        await untilStatus(world, runId, ['completed']);
        const log = await logOf(world, runId);
        const { sequence } = eventOf(log, 'clarification.requested');
        holds(
          sequence < eventOf(log, 'clarification.resolved').sequence,
          'the question before the answer',
          'the reverse',
        );
      },
    },
    {
      id: 'answered',
      name: 'Answering a clarification is answered 200, and the run completes.',
      rule: ['Endpoints', 'interrupts.clarification.answered'],
      async run(world) {
        const { runId } = await waiting(world);
        const { nodeId } = body(await answer(world, runId), 200, ANSWERED);
        same(nodeId, nodeOf(world.target, CLARIFICATION), 'nodeId');
        await untilStatus(world, runId, ['completed']);
      },
    },
    {
      id: 'race-one-wins',
      name: 'Of several answers at the same time, one is answered 200 and the others are answered 409.',
      rule: ['Endpoints', 'interrupts.clarification.answered'],
      async run(world) {
        const { runId } = await waiting(world);
        const answers = await Promise.all(Array.from({ length: 4 }, () => answer(world, runId)));
        same(answers.map(({ status }) => status).sort(), [200, 409, 409, 409], 'the statuses', answers[0]);
        for (const late of answers.filter(({ status }) => status === 409)) {
          refused(late, 409, 'interrupt_already_resolved');
        }
        await untilStatus(world, runId, ['completed']);
      },
    },
  ],
);

const REQUESTED = z.looseObject({
  kind: z.literal('clarification'),
  key: z.string().min(1).max(256),
  data: z.looseObject({
    questions: z.array(z.looseObject({ id: z.string().min(1), question: z.string().min(1) })).min(1),
  }),
});

const ANSWERED = z.looseObject({ runId: z.string(), nodeId: z.string(), status: z.string() });
