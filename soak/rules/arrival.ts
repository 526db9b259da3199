import { isSuccess, nameOf, type Rule } from './case.ts';

/**
 * What is in a log was answered with success at least once by every durable subscription that asked for it, or is one of its dead
 * letters.
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
      return `${nameOf(passage)} is lost; its run was ${known}; ${answers === '' ? 'never received' : `answered ${answers}`}`;
    });
