/** The result of one check of a host. */
export interface HealthCheck {
  /**
   * `lifecycle`: the host has started and is not draining. `store`: the store answers. `deliveries`: the dispatcher
   * makes progress.
   */
  readonly name: 'lifecycle' | 'store' | 'deliveries';
  /** Whether the check passed. */
  readonly ok: boolean;
  /** The cause of the failure; absent when the check passed. */
  readonly reason?: HealthReason;
}

/** The cause of a failed check. Each belongs to one check. */
export type HealthReason =
  /** `lifecycle`: the phase of the host. */
  | Exclude<Phase, 'running'>
  /**
   * `store`: a write failed, or did not end within 2 s; or the store can write nothing more until the process is started
   * again.
   */
  | 'failed'
  | 'no-answer'
  | 'lost'
  /** `deliveries`: a round of the dispatcher, or an attempt, has lasted longer than it can. */
  | 'stalled'
  /** `deliveries`: the rounds of the dispatcher have failed for more than 10 s. */
  | 'failing';

/** The phases of a host's life, in their order. */
export type Phase = 'made' | 'starting' | 'running' | 'draining' | 'stopped';
