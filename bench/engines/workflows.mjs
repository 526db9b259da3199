import { workflow } from '@svc/host-kit/engine/steps';
import { z } from 'zod';

/** The work that each engine does: a workflow of three steps, each with a result of 400 characters. */
export function workflowsOf({ onFirst, onSecond }) {
  return [
    workflow({
      id: 'three',
      inputs: z.object({ text: z.string() }),
      async run({ text }, { step }) {
        await step('first', () => {
          onFirst();
          return { text };
        });
        await step('second', async () => {
          await onSecond();
          return { text };
        });
        return step('third', () => ({ text }));
      },
    }),
  ];
}
