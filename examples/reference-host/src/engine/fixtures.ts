import { approvalAt } from './approval.ts';
import { delayOf } from './delay.ts';
import { echo } from './echo.ts';
import { fail } from './fail.ts';
import type { Workflow } from './workflow.ts';

/** The fixture workflows of black-box suites, by the names in `fixtures[]` of discovery. */
export const FIXTURES: Readonly<Record<string, Workflow>> = {
  'conformance-noop': echo,
  'conformance-delay': delayOf('delayMs'),
  'conformance-cancellable': delayOf('delayMs'),
  'conformance-failure': fail,
  'conformance-approval': approvalAt('gate'),
  'conformance-idempotent': {
    refuse({ nonce }) {
      if (nonce === undefined || typeof nonce === 'string') return undefined;
      return { field: 'inputs.nonce', problem: 'must be a string' };
    },
    run: echo.run,
  },
};
