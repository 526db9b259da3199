import { approvalAt } from './approval.ts';
import { clarificationAt } from './clarification.ts';
import { delayOf } from './delay.ts';
import { echo } from './echo.ts';
import { externalEventAt } from './external-event.ts';
import { fail } from './fail.ts';
import type { Workflow } from './workflow.ts';

/** The fixture workflows of black-box suites, by the names in `fixtures[]` of discovery. */
export const FIXTURES: Readonly<Record<string, Workflow>> = {
  'conformance-noop': echo,
  'conformance-delay': delayOf('delayMs'),
  'conformance-cancellable': delayOf('delayMs'),
  'conformance-failure': fail,
  'conformance-approval': approvalAt('gate'),
  'conformance-approval-quorum': approvalAt('gate', { requiredApprovals: 2 }),
  'conformance-clarification': clarificationAt('ask', 'q1'),
  'conformance-interrupt-external-event': externalEventAt('wait-for-external'),
  'conformance-effect': {
    refuse: () => undefined,
    // The provider of this effect is the log of the run, so that a suite needs no other one.
    run: (_inputs, { node }) =>
      node('effect', 'sample.effect', ({ effect, write }) =>
        effect({ provider: 'sample:log', identity: { ordinal: 0 } }, async ({ effectId }) => {
          await write([`made the effect ${effectId}`]);
          return { isMade: true };
        }),
      ),
  },
  'conformance-idempotent': {
    refuse({ nonce }) {
      if (nonce === undefined || typeof nonce === 'string') return undefined;
      return { field: 'inputs.nonce', problem: 'must be a string' };
    },
    run: echo.run,
  },
};
