import type { Major } from '@svc/versioning';
import type { AuditObserver } from '../audit/sealer.ts';
import type { RequestWatch } from '../http/watch.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Store } from '../ports/store.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { StreamOutcome } from '../streams/stream-state.ts';
import type { MessageCounted } from '../triggers/start.ts';
import type { MirrorObserver } from '../versions/mirror-report.ts';
import type { Attempt } from '../webhooks/attempt.ts';
import type { LaneChanged } from '../webhooks/lanes.ts';
import type { StateChanged } from '../webhooks/subscription-state.ts';
import { observedAttempt } from './attempts.ts';
import { auditCounter } from './audit.ts';
import { type AuthenticationCounter, authenticationCounter } from './authentication.ts';
import { appendedSpans, eventCounter } from './events.ts';
import { type GaugeSources, gauges } from './gauges.ts';
import { mirrorCounter } from './mirror.ts';
import { type RemovedKind, removalCounter } from './removals.ts';
import { requestWatch } from './requests.ts';
import { scopeOf, type TelemetryOptions } from './scope.ts';
import { streamCounter } from './streams.ts';
import { laneCounter, stateCounter } from './subscriptions.ts';
import { timedStore } from './transactions.ts';
import { messageCounter } from './triggers.ts';
import { unmatchedApi } from './unmatched-api.ts';
import { versionCounter } from './versions.ts';

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
  /** Counts a change of a subscription's lane. */
  readonly laneChanged: LaneChanged;
  /** Counts an appended event, and remembers its span. */
  readonly appended: (event: RunEvent) => void;
  /** Counts the checkpoints and failures of the audit log. */
  readonly audit: AuditObserver;
  /** Counts the decisions about callers. */
  readonly authentication: AuthenticationCounter;
  /** Wraps a store so that its transactions are timed. */
  readonly timed: (store: Store) => Store;
  /** Counts records that were removed because their time had passed. */
  readonly removed: (kind: RemovedKind, count: number) => void;
  /** Counts a request of a known caller, by its major and its lane. */
  readonly versionUsed: (major: Major, lane: string) => void;
  /** Counts an outcome of a message of a trigger. */
  readonly messageCounted: MessageCounted;
  /** Counts mirrored reads. */
  readonly mirror: MirrorObserver;
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
  /** Deliveries are due by it. */
  readonly storeClock: StoreClock;
}

export function telemetry(options: TelemetryOptions, { version, storeClock }: TelemetryParts): Telemetry {
  const scope = scopeOf(options, version);
  const count = eventCounter(scope);
  const spans = appendedSpans();
  return {
    watch: requestWatch(scope),
    observed: (attempt) => observedAttempt(attempt, scope, { storeClock, appendedIn: spans.of }),
    stateChanged: stateCounter(scope),
    laneChanged: laneCounter(scope),
    audit: auditCounter(scope),
    authentication: authenticationCounter(scope),
    timed: (store) => timedStore(store, scope),
    removed: removalCounter(scope),
    versionUsed: versionCounter(scope),
    messageCounted: messageCounter(scope),
    mirror: mirrorCounter(scope),
    streamClosed: streamCounter(scope),
    unmatchedApi: () => unmatchedApi(options),
    show: (sources) => gauges(scope, storeClock, sources),
    appended(event) {
      count(event);
      spans.remember(event.eventId);
    },
  };
}
