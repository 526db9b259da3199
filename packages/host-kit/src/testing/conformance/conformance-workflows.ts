import { z } from 'zod';
import { StepFailure } from '../../engine/steps/step-failure.ts';
import type { Steps } from '../../engine/steps/steps.ts';
import { type Workflow, workflow } from '../../engine/steps/workflow.ts';
import type { ApprovalSubject } from '../../ports/interrupts.ts';

const ANY = z.record(z.string(), z.json());
const DELAYED = z.object({ delayMs: z.int().min(0).max(60_000).default(0) });

const noop = workflow({
  ...{ id: 'conformance-noop', title: 'Completes at once', inputs: ANY },
  run: (inputs, { step }) => step('noop', () => inputs),
});

const failure = workflow({
  ...{ id: 'conformance-failure', title: 'Fails at once', inputs: ANY },
  run: (_inputs, { step }) =>
    step('fail', (): object => {
      throw new StepFailure('conformance_failure', 'The workflow was asked to fail.');
    }),
});

const delay = workflow({
  ...{ id: 'conformance-delay', title: 'Completes after some time', inputs: DELAYED },
  run: rest,
});

const cancellable = workflow({
  ...{ id: 'conformance-cancellable', title: 'Completes after some time, if it is not cancelled', inputs: DELAYED },
  run: rest,
});

const idempotent = workflow({
  ...{ id: 'conformance-idempotent', title: 'Completes at once with its nonce' },
  inputs: z.looseObject({ nonce: z.string().optional() }),
  run: (inputs, { step }) => step('echo', () => inputs),
});

const effect = workflow({
  ...{ id: 'conformance-effect', title: 'Makes one effect', inputs: ANY },
  run: (_inputs, { step }) =>
    // The provider of this effect is the log of the run, so that a suite needs no other one.
    step('effect', ({ effect: once, log }) =>
      once({ provider: 'conformance:log', identity: { ordinal: 0 } }, async ({ effectId }) => {
        await log(`made the effect ${effectId}`);
        return { isMade: true };
      }),
    ),
});

const approval = workflow({
  ...{ id: 'conformance-approval', title: 'Waits for an approval', inputs: ANY },
  run: (_inputs, { ask }) => approved(ask, {}),
});

const quorum = workflow({
  ...{ id: 'conformance-approval-quorum', title: 'Waits for the approvals of two principals', inputs: ANY },
  run: (_inputs, { ask }) => approved(ask, { requiredApprovals: 2 }),
});

const clarification = workflow({
  ...{ id: 'conformance-clarification', title: 'Asks a question', inputs: ANY },
  async run(_inputs, { ask }) {
    const questions = [{ id: 'q1', question: 'Which colour?' }];
    const { resumeValue } = await ask('ask', {
      ...{ kind: 'clarification', data: { questions, contextType: 'conformance' } },
    });
    return { answer: resumeValue };
  },
});

const externalEvent = workflow({
  ...{ id: 'conformance-interrupt-external-event', title: 'Waits for an event of another system', inputs: ANY },
  async run(_inputs, { waitForEvent }) {
    return { event: await waitForEvent('wait-for-external', { eventType: 'conformance.arrived' }) };
  },
});

/**
 * The fixture workflows of `svc-conformance`, for an engine of steps. `svc-conformance --fixtures` describes them.
 *
 * @example
 * const engine = stepsEngine({ workflows: [publish, ...conformanceWorkflows] });
 */
export const conformanceWorkflows: readonly Workflow[] = [
  ...[noop, failure, delay, cancellable, idempotent],
  ...[effect, approval, quorum, clarification, externalEvent],
];

async function rest({ delayMs }: { readonly delayMs: number }, { sleep }: Steps) {
  await sleep('delay', delayMs);
  return { delayMs };
}

async function approved(ask: Steps['ask'], rule: Pick<ApprovalSubject, 'requiredApprovals'>) {
  const data = { artifactId: 'draft', artifactType: 'draft', title: 'Is it good?', ...rule };
  const { decision, resumeValue } = await ask('gate', { kind: 'approval', data });
  if (decision === 'granted') return { answer: resumeValue };
  throw new StepFailure('approval_rejected', 'The approval was rejected.');
}
