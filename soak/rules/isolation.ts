import { REALMS } from '../plan.ts';
import { isFor, type Rule } from './case.ts';

/**
 * Nothing came to a subscription that is another tenant's, of the other mode, or not what it asked for.
 *
 * @see Interface: Webhook delivery rules, 2
 */
export const isolation: Rule = ({ received, run, subscription }) =>
  received
    .filter(({ refusal }) => refusal === undefined)
    .flatMap(({ name, runId, type, tenant }) => {
      const heard = subscription.get(name);
      const owner = run.get(runId);
      if (heard === undefined) return [`${name}: something came, and nobody has registered it`];
      if (owner === undefined) return [`${name}: ${runId} came, which its own realm does not have`];
      const own = REALMS[heard.realm].tenant;
      return [
        ...(tenant === undefined || tenant === own ? [] : [`${name} of ${own}: ${runId} came bound to ${tenant}`]),
        ...(isFor(heard, owner, type)
          ? []
          : [`${name}: ${type} of ${runId} (${owner.realm}) came, which it did not ask for`]),
      ];
    });
