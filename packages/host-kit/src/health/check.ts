/** One thing that a host is judged by. */
export interface HealthCheck {
  /** `lifecycle`: it has started and is not about to stop. `store`: it answers. `deliveries`: the dispatcher does its work. */
  readonly name: 'lifecycle' | 'store' | 'deliveries';
  readonly ok: boolean;
  /** Why it is not. */
  readonly reason?: HealthReason;
}

export type HealthReason =
  /** Of the lifecycle: what the host is instead of running. */
  | Exclude<Phase, 'running'>
  /** The store failed, or did not answer in time. */
  | 'failed'
  | 'no-answer'
  /** The dispatcher has been at one round, or an attempt under way, for longer than either can take. */
  | 'stalled'
  /** The dispatcher's rounds have failed for a while. */
  | 'failing';

/** Where a host is in its life. */
export type Phase = 'made' | 'starting' | 'running' | 'draining' | 'stopped';
