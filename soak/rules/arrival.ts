import { isSuccess, nameOf, type Rule } from './case.ts';

/**
 * Every event of a log was accepted at least once by the receiver of every durable subscription that matches it, or is
 * a dead letter of the subscription.
 *
 * @see Interface: Events, Webhook delivery of events, 3
 */
export const arrival: Rule = ({ passages }) =>
  passages
    .filter(({ isDue, subscription }) => isDue && subscription.durable)
    .filter(({ received, deadLetter }) => deadLetter === undefined && !received.some(isSuccess))
    .map((passage) => {
      const answers = passage.received.map(({ answer }) => answer).join(', ');
      const known = passage.run.acknowledged ? 'acknowledged' : 'not acknowledged';
      const seen = answers === '' ? 'never received' : `responses: ${answers}`;
      return `${nameOf(passage)} is lost; its run was ${known}; ${seen}`;
    });
