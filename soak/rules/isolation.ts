import { REALMS } from '../plan.ts';
import { isFor, type Rule } from './case.ts';

/**
 * No subscription received an event of another tenant, of the other mode, or that it does not match.
 *
 * @see Interface: Webhook delivery rules, 2
 */
export const isolation: Rule = ({ received, run, subscription }) =>
  received
    .filter(({ refusal }) => refusal === undefined)
    .flatMap(({ name, runId, type, tenant }) => {
      const heard = subscription.get(name);
      const owner = run.get(runId);
      if (heard === undefined) return [`${name}: an event arrived, but no such subscription was registered`];
      if (owner === undefined) return [`${name}: ${runId} arrived, but the subscription's realm has no such run`];
      const own = REALMS[heard.realm].tenant;
      return [
        ...(tenant === undefined || tenant === own ? [] : [`${name} of ${own}: ${runId} arrived bound to ${tenant}`]),
        ...(isFor(heard, owner, type)
          ? []
          : [`${name}: ${type} of ${runId} (${owner.realm}) arrived, but the subscription does not match it`]),
      ];
    });
