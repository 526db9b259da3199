/** The definition of one metric. */
export interface Metric {
  readonly name: string;
  readonly kind: 'counter' | 'up-down counter' | 'histogram' | 'gauge';
  /** The unit, in UCUM. */
  readonly unit: string;
  /** The metric in one sentence, as docs/operations.md has it. */
  readonly description: string;
  /** The names of the attributes. Each has a closed set of values, which bounds the number of series. */
  readonly attributes: readonly string[];
  /** The upper bounds of a histogram's buckets. A view may override them. */
  readonly buckets?: readonly number[];
}

/** The buckets that the semantic conventions for HTTP advise for the duration of a request. */
const REQUEST_S = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** Buckets up to an hour: a backlog may be as old as its receiver has been away. */
const LAG_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];
/** Buckets from a transaction in memory to one that waits for others. */
const COMMIT_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Every metric of the host. Names follow the semantic conventions for HTTP where there is one, and begin with `svc.`
 * otherwise.
 */
export const METRICS = {
  requestDuration: {
    name: 'http.server.request.duration',
    kind: 'histogram',
    unit: 's',
    description: 'Duration of requests, until the head of the response.',
    attributes: [
      'http.request.method',
      'http.response.status_code',
      'http.route',
      'url.scheme',
      'error.type',
      'svc.operation',
      'svc.major',
    ],
    buckets: REQUEST_S,
  },
  activeRequests: {
    name: 'http.server.active_requests',
    kind: 'up-down counter',
    unit: '{request}',
    description: 'Requests without a response yet.',
    attributes: ['http.request.method', 'url.scheme'],
  },
  authentications: {
    name: 'svc.auth.decisions',
    kind: 'counter',
    unit: '{decision}',
    description: 'Decisions about the credentials of callers.',
    attributes: ['svc.auth.lane', 'svc.auth.outcome', 'svc.auth.reason', 'svc.auth.address'],
  },
  authenticationIncidents: {
    name: 'svc.auth.incidents',
    kind: 'counter',
    unit: '{incident}',
    description: 'Troubles of authentication that began. The log tells when each ends.',
    attributes: ['svc.auth.incident'],
  },
  versionRequests: {
    name: 'svc.version.requests',
    kind: 'counter',
    unit: '{request}',
    description: 'Requests of known callers under each major of the protocol.',
    attributes: ['svc.major', 'svc.auth.lane'],
  },
  mirrorCompared: {
    name: 'svc.mirror.compared',
    kind: 'counter',
    unit: '{read}',
    description: 'Reads that were answered in the other major again, and compared.',
    attributes: ['svc.operation', 'svc.major'],
  },
  mirrorDifferent: {
    name: 'svc.mirror.different',
    kind: 'counter',
    unit: '{read}',
    description: 'Compared reads whose answers differ between the majors.',
    attributes: ['svc.operation', 'svc.major'],
  },
  mirrorSkipped: {
    name: 'svc.mirror.skipped',
    kind: 'counter',
    unit: '{read}',
    description: 'Reads that were chosen and not compared.',
    attributes: ['svc.mirror.reason'],
  },
  attemptDuration: {
    name: 'svc.webhook.attempt.duration',
    kind: 'histogram',
    unit: 's',
    description: 'Duration of delivery attempts, as the transport measured it.',
    attributes: ['svc.webhook.mode', 'svc.webhook.outcome', 'svc.webhook.reason', 'svc.webhook.status_class'],
    buckets: REQUEST_S,
  },
  activeAttempts: {
    name: 'svc.webhook.active_attempts',
    kind: 'up-down counter',
    unit: '{attempt}',
    description: 'Attempts under way, by the lane of the subscription: regular, or slow after a time-out.',
    attributes: ['svc.webhook.lane'],
  },
  queueLag: {
    name: 'svc.webhook.queue.lag',
    kind: 'histogram',
    unit: 's',
    description: 'Delay between the due time of a delivery and the start of its attempt.',
    attributes: ['svc.webhook.lane'],
    buckets: LAG_S,
  },
  queueDue: {
    name: 'svc.webhook.queue.due',
    kind: 'gauge',
    unit: '{delivery}',
    description:
      'Due deliveries of subscriptions that are not paused, in the queue and handed over, whose attempts have not begun; counted up to 10000.',
    attributes: [],
  },
  queueAge: {
    name: 'svc.webhook.queue.oldest_due_age',
    kind: 'gauge',
    unit: 's',
    description: 'Time since the oldest due delivery became due; 0 when none is due.',
    attributes: [],
  },
  retries: {
    name: 'svc.webhook.retries',
    kind: 'counter',
    unit: '{delivery}',
    description: 'Failed attempts whose delivery will be retried.',
    attributes: [],
  },
  deadLetters: {
    name: 'svc.webhook.dead_letters',
    kind: 'counter',
    unit: '{delivery}',
    description: 'Deliveries moved to the dead letters.',
    attributes: ['svc.webhook.cause'],
  },
  skipped: {
    name: 'svc.webhook.skipped',
    kind: 'counter',
    unit: '{delivery}',
    description: 'Best-effort deliveries dropped without an attempt.',
    attributes: ['svc.webhook.cause'],
  },
  held: {
    name: 'svc.webhook.held',
    kind: 'counter',
    unit: '{delivery}',
    description: 'Deliveries that wait because the host cannot open the secret to sign them. No attempt is counted.',
    attributes: [],
  },
  circuitTransitions: {
    name: 'svc.webhook.circuit.transitions',
    kind: 'counter',
    unit: '{transition}',
    description: 'State changes of the circuits of best-effort subscriptions.',
    attributes: ['svc.state.from', 'svc.state.to'],
  },
  laneTransitions: {
    name: 'svc.webhook.lane.transitions',
    kind: 'counter',
    unit: '{transition}',
    description: 'Subscriptions that moved to the slow lane after a time-out, and back.',
    attributes: ['svc.state.from', 'svc.state.to'],
  },
  subscriptionTransitions: {
    name: 'svc.webhook.subscription.transitions',
    kind: 'counter',
    unit: '{transition}',
    description: 'Status changes of subscriptions.',
    attributes: ['svc.state.from', 'svc.state.to'],
  },
  eventsAppended: {
    name: 'svc.event.appended',
    kind: 'counter',
    unit: '{event}',
    description: 'Events appended durably.',
    attributes: ['svc.event.type'],
  },
  readers: {
    name: 'svc.event.readers',
    kind: 'gauge',
    unit: '{reader}',
    description: 'Open event streams and waiting polls.',
    attributes: [],
  },
  runsStarted: {
    name: 'svc.run.started',
    kind: 'counter',
    unit: '{run}',
    description: 'Runs started.',
    attributes: [],
  },
  runsEnded: {
    name: 'svc.run.ended',
    kind: 'counter',
    unit: '{run}',
    description: 'Runs that reached a terminal status.',
    attributes: ['svc.run.status'],
  },
  streamsClosed: {
    name: 'svc.event.streams_closed',
    kind: 'counter',
    unit: '{stream}',
    description: 'Event streams closed.',
    attributes: ['svc.event.stream_outcome'],
  },
  transactionDuration: {
    name: 'svc.store.transaction.duration',
    kind: 'histogram',
    unit: 's',
    description: 'Duration of store transactions, the wait for the store included.',
    attributes: ['svc.store.outcome'],
    buckets: COMMIT_S,
  },
  clockSkew: {
    name: 'svc.host.clock_skew',
    kind: 'gauge',
    unit: 's',
    description:
      'Time by which the clock of the host is ahead of that of the database; negative when it is behind. PostgreSQL alone.',
    attributes: [],
  },
  storeLog: {
    name: 'svc.store.log.size',
    kind: 'gauge',
    unit: 'By',
    description: 'Length of the write-ahead log of an SQLite database.',
    attributes: [],
  },
  storeSnapshot: {
    name: 'svc.store.oldest_snapshot_age',
    kind: 'gauge',
    unit: 's',
    description: 'Age of the oldest transaction that prevents the clean-up of rows; 0 without one. PostgreSQL alone.',
    attributes: [],
  },
  triggerMessages: {
    name: 'svc.trigger.messages',
    kind: 'counter',
    unit: '{message}',
    description: 'Outcomes of authentic messages and occurrences of triggers. A message that is retried has several.',
    attributes: ['svc.trigger.source', 'svc.trigger.outcome'],
  },
  triggersWaiting: {
    name: 'svc.trigger.waiting',
    kind: 'gauge',
    unit: '{message}',
    description: 'Messages of triggers that wait for an attempt or for a resume; counted up to 10000.',
    attributes: [],
  },
  triggerLetters: {
    name: 'svc.trigger.dead_letters',
    kind: 'gauge',
    unit: '{message}',
    description: 'Stored messages of triggers that started no run; counted up to 10000.',
    attributes: [],
  },
  removed: {
    name: 'svc.retention.removed',
    kind: 'counter',
    unit: '{record}',
    description: 'Records that were removed because their retention time had passed.',
    attributes: ['svc.retention.kind'],
  },
  checkpoints: {
    name: 'svc.audit.checkpoints',
    kind: 'counter',
    unit: '{checkpoint}',
    description: 'Checkpoints written to the audit log.',
    attributes: [],
  },
  auditFailures: {
    name: 'svc.audit.failures',
    kind: 'counter',
    unit: '{failure}',
    description: 'Failed writes and seals of the audit log. They are retried.',
    attributes: ['svc.audit.step'],
  },
} as const satisfies Readonly<Record<string, Metric>>;
