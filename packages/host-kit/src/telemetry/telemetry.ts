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
import { type GaugeSources, gauges } from './gauges.ts';
import { requestWatch } from './requests.ts';
import { scopeOf, type TelemetryOptions } from './scope.ts';
import { streamCounter } from './streams.ts';
import { stateCounter } from './subscriptions.ts';
import { timedStore } from './transactions.ts';
import { unmatchedApi } from './unmatched-api.ts';

/**
 * The metrics and traces of a host, recorded by the OpenTelemetry SDK that its process has loaded. Attributes are
 * content-free: values of closed sets, times, and on the spans of attempts ids that the host made.
 *
 * @see Interface: Audit logging
 */
export interface Telemetry {
  /** Measures and traces each request. */
  readonly watch: RequestWatch;
  /** Wraps an attempt so that it is measured and traced. */
  readonly observed: (attempt: Attempt) => Attempt;
  /** Counts a change of a subscription's state. */
  readonly stateChanged: StateChanged;
  /** Counts an appended event, and remembers its span. */
  readonly appended: (event: RunEvent) => void;
  /** Counts the checkpoints and failures of the audit log. */
  readonly audit: AuditObserver;
  /** Wraps a store so that its transactions are timed. */
  readonly timed: (store: Store) => Store;
  /** Counts a closed event stream. */
  readonly streamClosed: (outcome: StreamOutcome) => void;
  /** The version of the OpenTelemetry API whose SDK is not seen; undefined when there is none. */
  readonly unmatchedApi: () => string | undefined;
  /** Observes the gauges, until the returned function is called. */
  readonly show: (sources: GaugeSources) => () => void;
}

export interface TelemetryParts {
  /** The version of the instrumentation scope: that of this package. */
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
    stateChanged: stateCounter(scope),
    audit: auditCounter(scope),
    timed: (store) => timedStore(store, scope),
    streamClosed: streamCounter(scope),
    unmatchedApi: () => unmatchedApi(options),
    show: (sources) => gauges(scope, clock, sources),
    appended(event) {
      count(event);
      spans.remember(event.eventId);
    },
  };
}
