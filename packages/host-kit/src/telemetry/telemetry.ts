import type { AuditObserver } from '../audit/recorder.ts';
import type { RequestWatch } from '../http/watch.ts';
import type { Clock } from '../ports/clock.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Store } from '../ports/store.ts';
import type { StreamOutcome } from '../streams/stream-state.ts';
import type { Attempt } from '../webhooks/attempt.ts';
import type { StateChanged } from '../webhooks/subscription-state.ts';
import { observedAttempt } from './attempts.ts';
import { auditCounter } from './audit.ts';
import { appendedSpans, eventCounter } from './events.ts';
import { gauges, type Shown } from './gauges.ts';
import { requestWatch } from './requests.ts';
import { scopeOf, type TelemetryOptions } from './scope.ts';
import { streamCounter } from './streams.ts';
import { healthCounter } from './subscriptions.ts';
import { timedStore } from './transactions.ts';

/**
 * What is measured and traced of a host, with the OpenTelemetry SDK that its process has loaded. Attributes are content-free: names out of
 * closed sets, times, and on the spans of attempts ids of the host's own making.
 *
 * @see Interface: Audit logging
 */
export interface Telemetry {
  readonly watch: RequestWatch;
  readonly observed: (attempt: Attempt) => Attempt;
  readonly moved: StateChanged;
  readonly appended: (event: RunEvent) => void;
  readonly audit: AuditObserver;
  readonly timed: (store: Store) => Store;
  readonly streamClosed: (outcome: StreamOutcome) => void;
  /** Shows what changes by itself, until what it returns is called. */
  readonly show: (shown: Shown) => () => void;
}

export interface TelemetryParts {
  readonly version: string;
  readonly clock: Clock;
}

export function telemetry(options: TelemetryOptions, { version, clock }: TelemetryParts): Telemetry {
  const scope = scopeOf(options, version);
  const count = eventCounter(scope);
  const spans = appendedSpans();
  return {
    watch: requestWatch(scope),
    observed: (attempt) => observedAttempt(attempt, scope, { clock, appendedIn: spans.of }),
    moved: healthCounter(scope),
    audit: auditCounter(scope),
    timed: (store) => timedStore(store, scope),
    streamClosed: streamCounter(scope),
    show: (shown) => gauges(scope, clock, shown),
    appended(event) {
      count(event);
      spans.remember(event.eventId);
    },
  };
}
