import type { Counter, Histogram, Meter, MetricOptions, ObservableGauge, UpDownCounter } from '@opentelemetry/api';

/** One metric: what it is called, what it measures, and what its series are told apart by. */
export interface Metric {
  readonly name: string;
  readonly kind: 'counter' | 'up-down counter' | 'histogram' | 'gauge';
  /** In UCUM. */
  readonly unit: string;
  readonly description: string;
  /** Each out of a closed set, so that there are never more series than the sets have combinations. */
  readonly attributes: readonly string[];
  /** Upper bounds of a histogram's buckets, which a view may override. */
  readonly buckets?: readonly number[];
}

/** What HTTP's semantic conventions advise for something that somebody waits for. */
const WAITED_FOR_S = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** From a wake-up to an hour: a backlog is as old as its receiver has been away. */
const LATE_BY_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];
/** From a transaction in memory to one that waits for others. */
const COMMIT_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Every metric of the host. Names of HTTP's semantic conventions where there is one, `svc.` for the rest. */
export const METRICS = {
  requestDuration: {
    name: 'http.server.request.duration',
    kind: 'histogram',
    unit: 's',
    description: 'Requests, and how long their answers took.',
    attributes: [
      'http.request.method',
      'http.response.status_code',
      'http.route',
      'url.scheme',
      'error.type',
      'svc.operation',
      'svc.major',
    ],
    buckets: WAITED_FOR_S,
  },
  activeRequests: {
    name: 'http.server.active_requests',
    kind: 'up-down counter',
    unit: '{request}',
    description: 'Requests that are not answered yet.',
    attributes: ['http.request.method', 'url.scheme'],
  },
  attemptDuration: {
    name: 'svc.webhook.attempt.duration',
    kind: 'histogram',
    unit: 's',
    description: 'Attempts at deliveries, and how long the receivers took.',
    attributes: ['svc.webhook.mode', 'svc.webhook.outcome', 'svc.webhook.reason', 'svc.webhook.status_class'],
    buckets: WAITED_FOR_S,
  },
  activeAttempts: {
    name: 'svc.webhook.active_attempts',
    kind: 'up-down counter',
    unit: '{attempt}',
    description: 'Attempts that are under way.',
    attributes: [],
  },
  queueLag: {
    name: 'svc.webhook.queue.lag',
    kind: 'histogram',
    unit: 's',
    description: 'How long after it was due an attempt began.',
    attributes: [],
    buckets: LATE_BY_S,
  },
  queueDue: {
    name: 'svc.webhook.queue.due',
    kind: 'gauge',
    unit: '{delivery}',
    description: 'Deliveries that are due and wait, for subscriptions that are not paused; counted up to 10000.',
    attributes: [],
  },
  queueAge: {
    name: 'svc.webhook.queue.oldest_due_age',
    kind: 'gauge',
    unit: 's',
    description: 'How long the first of them has been due.',
    attributes: [],
  },
  retries: {
    name: 'svc.webhook.retries',
    kind: 'counter',
    unit: '{delivery}',
    description: 'Failed attempts that will be repeated.',
    attributes: [],
  },
  deadLetters: {
    name: 'svc.webhook.dead_letters',
    kind: 'counter',
    unit: '{delivery}',
    description: 'Deliveries that went to the dead letters.',
    attributes: ['svc.webhook.cause'],
  },
  skipped: {
    name: 'svc.webhook.skipped',
    kind: 'counter',
    unit: '{delivery}',
    description: 'Best-effort deliveries that were dropped without an attempt.',
    attributes: ['svc.webhook.cause'],
  },
  circuitTransitions: {
    name: 'svc.webhook.circuit.transitions',
    kind: 'counter',
    unit: '{transition}',
    description: 'Circuits of best-effort subscriptions that opened, half-opened or closed.',
    attributes: ['svc.state.from', 'svc.state.to'],
  },
  subscriptionTransitions: {
    name: 'svc.webhook.subscription.transitions',
    kind: 'counter',
    unit: '{transition}',
    description: 'Subscriptions that were paused, resumed, failed or dead-lettered.',
    attributes: ['svc.state.from', 'svc.state.to'],
  },
  eventsAppended: {
    name: 'svc.event.appended',
    kind: 'counter',
    unit: '{event}',
    description: 'Events that became durable.',
    attributes: ['svc.event.type'],
  },
  readers: {
    name: 'svc.event.readers',
    kind: 'gauge',
    unit: '{reader}',
    description: 'Streams of events, and polls that wait for some.',
    attributes: [],
  },
  runsStarted: {
    name: 'svc.run.started',
    kind: 'counter',
    unit: '{run}',
    description: 'Runs that started.',
    attributes: [],
  },
  runsEnded: {
    name: 'svc.run.ended',
    kind: 'counter',
    unit: '{run}',
    description: 'Runs that reached a terminal state.',
    attributes: ['svc.run.status'],
  },
  streamsClosed: {
    name: 'svc.event.streams_closed',
    kind: 'counter',
    unit: '{stream}',
    description: 'Streams of events that were closed.',
    attributes: ['svc.event.stream_outcome'],
  },
  transactionDuration: {
    name: 'svc.store.transaction.duration',
    kind: 'histogram',
    unit: 's',
    description: 'Transactions of the store, with their wait for it.',
    attributes: ['svc.store.outcome'],
    buckets: COMMIT_S,
  },
  checkpoints: {
    name: 'svc.audit.checkpoints',
    kind: 'counter',
    unit: '{checkpoint}',
    description: 'Checkpoints that sealed the audit log.',
    attributes: [],
  },
  auditFailures: {
    name: 'svc.audit.failures',
    kind: 'counter',
    unit: '{failure}',
    description: 'Steps of the audit log that failed and will be repeated.',
    attributes: ['svc.audit.step'],
  },
} as const satisfies Readonly<Record<string, Metric>>;

export function histogramOf(meter: Meter, metric: Metric): Histogram {
  return meter.createHistogram(metric.name, optionsOf(metric));
}

export function counterOf(meter: Meter, metric: Metric): Counter {
  return meter.createCounter(metric.name, optionsOf(metric));
}

export function upDownCounterOf(meter: Meter, metric: Metric): UpDownCounter {
  return meter.createUpDownCounter(metric.name, optionsOf(metric));
}

export function gaugeOf(meter: Meter, metric: Metric): ObservableGauge {
  return meter.createObservableGauge(metric.name, optionsOf(metric));
}

function optionsOf({ unit, description, buckets }: Metric): MetricOptions {
  return { unit, description, ...(buckets !== undefined && { advice: { explicitBucketBoundaries: [...buckets] } }) };
}
