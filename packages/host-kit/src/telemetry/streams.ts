import type { StreamOutcome } from '../streams/stream-state.ts';
import { counterOf } from './instruments.ts';
import { METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';

/** Counts closed event streams by their outcome. */
export function streamCounter({ meter }: Scope): (outcome: StreamOutcome) => void {
  const closed = counterOf(meter, METRICS.streamsClosed);
  return (outcome) => closed.add(1, { 'svc.event.stream_outcome': outcome });
}
