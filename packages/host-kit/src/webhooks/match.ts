import { reachesWorkspace } from '@svc/auth';
import type { Run } from '../ports/runs.ts';
import type { Subscription } from '../ports/subscriptions.ts';

/**
 * Whether a subscription hears of this run: same tenant, same mode, the run's workspace within its scope, and a tag in common
 * when it asks for tags. The event type is the store's to select by.
 *
 * @see Interface: Webhook delivery rules, 2
 */
export function matches(subscription: Subscription, run: Run): boolean {
  // What a durable subscription cannot be sent still goes to its dead letters.
  if (!subscription.durable && subscription.status !== 'active') return false;
  // What a replay tells has been told.
  if (run.fork?.mode === 'replay') return false;
  if (subscription.tenant !== run.tenant || subscription.mode !== run.mode) return false;
  if (!reachesWorkspace(subscription, run.workspace)) return false;
  if (subscription.push !== undefined && subscription.push.runId !== run.runId) return false;
  return subscription.tags.length === 0 || subscription.tags.some((tag) => run.tags.includes(tag));
}
