import type { Json } from '@svc/host-kit';
import { timeoutRefusal, unanswered } from './timeout.ts';
import { isWhole } from './whole.ts';
import type { Workflow } from './workflow.ts';

/**
 * Asks `rounds` clarifications, one after the other, each to be answered with one of `choices`. Completes with the
 * answers.
 */
export const clarification: Workflow = {
  refuse({ question, choices, rounds, timeoutMs }) {
    if (question !== undefined && (typeof question !== 'string' || question === '')) {
      return { field: 'inputs.question', problem: 'must be a non-empty string' };
    }
    if (choices !== undefined && !isChoice(choices)) {
      return { field: 'inputs.choices', problem: 'must be a list of 1 to 100 strings' };
    }
    if (rounds !== undefined && !isWhole(rounds, 1, MOST_ROUNDS)) {
      return { field: 'inputs.rounds', problem: `must be a whole number from 1 to ${MOST_ROUNDS}` };
    }
    return timeoutRefusal(timeoutMs);
  },
  run: ({ question = 'Which one?', choices, rounds = 1, timeoutMs }, { node }) =>
    node(
      'clarification',
      'sample.clarification',
      async ({ ask }) => {
        const asked = {
          id: 'answer',
          question: String(question),
          ...(choices !== undefined && { schema: { enum: choices } }),
        };
        const data = { questions: [asked], contextType: 'sample' };
        const answers = [];
        for (let round = 1; round <= Number(rounds); round++) {
          const answer = await ask({
            ...{ key: `round-${round}`, kind: 'clarification', data },
            ...(timeoutMs !== undefined && { timeoutMs: Number(timeoutMs) }),
          });
          if (answer.isTimeout) throw unanswered('The question was not answered in time.');
          answers.push(answer.resumeValue);
        }
        return { answers };
      },
      { goesOn: true },
    ),
};

const MOST_ROUNDS = 100;

function isChoice(value: Json): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= 100 &&
    value.every((choice: Json) => typeof choice === 'string')
  );
}
