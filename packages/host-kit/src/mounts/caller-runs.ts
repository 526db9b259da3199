import type { MountCall } from '../http/route.ts';
import type { Json } from '../json.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';
import type { RunRequest } from '../runs/create.ts';

/** The caller of a mount, with the functions that check its scopes. */
export type MountCaller = Pick<MountCall, 'principal' | 'permit' | 'judgeAgain'>;

/**
 * The operations on runs that a mount can call for a caller. Each checks scope, role and tenancy and writes an audit
 * fact like the operation of the protocol. A mount has no other access to runs.
 *
 * Every function rejects with the `AuthError` or `HostError` of its operation.
 */
export interface CallerRuns {
  /** Creates a run and starts it. Scope `runs:create`. */
  create(caller: MountCaller, request: RunRequest): Promise<Run>;
  /** Reads a run. Scope `runs:read`. */
  read(caller: MountCaller, runId: string): Promise<Run>;
  /** Cancels a run. Rejects with `run_terminal` when it has ended. Scope `runs:cancel`. */
  cancel(caller: MountCaller, runId: string): Promise<Run>;
  /** Resolves the interrupt that a run waits for. Scopes `runs:read` and `approvals:respond`. */
  respond(caller: MountCaller, runId: string, resumeValue: Json): Promise<Run>;
  /** The last event of a run, if it has any. No scope is checked: the caller has read the run. */
  last(run: Run): Promise<RunEvent | undefined>;
  /**
   * Yields the events after a sequence, stored and new, up to the event that ends the run. Returns early when the
   * signal aborts, when the host stops and when the credential of the caller expires or is revoked. Scope `runs:read`.
   */
  follow(caller: MountCaller, run: Run, after: number, signal: AbortSignal): AsyncGenerator<RunEvent, void, undefined>;
  /** Waits up to `waitMs` milliseconds for a run to end or to ask a question, then reads it. Scope `runs:read`. */
  settled(caller: MountCaller, run: Run, waitMs: number, gone: AbortSignal): Promise<Run>;
  /** The first 100 artifacts of a run. Empty for a caller without the scope `artifacts:read`. */
  artifacts(caller: MountCaller, run: Run): Promise<readonly RunArtifact[]>;
}

/** An artifact of a run, as a mount sees it. */
export interface RunArtifact {
  readonly artifactId: string;
  readonly content: Json;
}
