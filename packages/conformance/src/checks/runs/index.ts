import { area, type RunnableCheck } from '../../check.ts';
import { APPROVAL } from '../../fixtures.ts';
import { fixture, scopes } from '../../needs.ts';
import { startRun, untilStatus } from '../../steps/runs.ts';
import { cancelling } from './cancelling.ts';
import { creation } from './creation.ts';
import { forking } from './forking.ts';
import { listing } from './listing.ts';
import { pausing } from './pausing.ts';
import { reading } from './reading.ts';

const waiting = area('runs', { needs: [scopes('runs:create', 'runs:read')] }, [
  {
    id: 'approval-waits',
    name: 'A run that waits for an approval has the status `waiting-approval`.',
    rule: ['Endpoints: approvals', 'interrupts.approval.waits'],
    needs: [fixture(APPROVAL)],
    async run(world) {
      const { runId } = await startRun(world, APPROVAL);
      await untilStatus(world, runId, ['waiting-approval']);
    },
  },
]);

/** Runs: created, read, cancelled, paused, listed and forked. */
export const runs: readonly RunnableCheck[] = [
  ...creation,
  ...reading,
  ...cancelling,
  ...pausing,
  ...listing,
  ...forking,
  ...waiting,
];
