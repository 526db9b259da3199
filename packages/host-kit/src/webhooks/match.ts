import { reachesWorkspace } from '@svc/auth';
import type { Run } from '../ports/runs.ts';
import type { Subscription } from '../ports/subscriptions.ts';

/**
 * Returns whether the events of a run go to a subscription: same tenant, same mode, the run's workspace within its
 * scope, and a tag in common when it asks for tags. The store has already selected by event type.
 *
 * @see Interface: Webhook delivery rules, 2
 */
export function matches(subscription: Subscription, run: Run): boolean {
  // A failed durable subscription still matches: its deliveries go to the dead letters.
  if (!subscription.durable && subscription.status !== 'active') return false;
  // A replay repeats events that were delivered when they first happened.
  if (run.fork?.mode === 'replay') return false;
  if (subscription.tenant !== run.tenant || subscription.mode !== run.mode) return false;
  if (!reachesWorkspace(subscription, run.workspace)) return false;
  if (subscription.push !== undefined && subscription.push.runId !== run.runId) return false;
  return subscription.tags.length === 0 || subscription.tags.some((tag) => run.tags.includes(tag));
}
