import type { MessageCounted } from '../triggers/start.ts';
import { counterOf } from './instruments.ts';
import { METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';

/** Counts the outcomes of messages of triggers. */
export function messageCounter({ meter }: Scope): MessageCounted {
  const messages = counterOf(meter, METRICS.triggerMessages);
  return (source, outcome) => messages.add(1, { 'svc.trigger.source': source, 'svc.trigger.outcome': outcome });
}
