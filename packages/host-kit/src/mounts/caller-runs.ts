import type { MountCall } from '../http/route.ts';
import type { Json } from '../json.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';
import type { RunRequest } from '../runs/create.ts';

/** Who asks. */
export type MountCaller = Pick<MountCall, 'principal' | 'permit' | 'judgeAgain'>;

/**
 * What a mount does with runs for a caller: the protocol's own operations as functions, each with its scope, role, tenancy and audit
 * fact. A mount has no other way to a run.
 *
 * Every function rejects as the operation refuses: with an `AuthError` or a `HostError`.
 */
export interface CallerRuns {
  /** Scope `runs:create`. */
  create(caller: MountCaller, request: RunRequest): Promise<Run>;
  /** Scope `runs:read`. */
  read(caller: MountCaller, runId: string): Promise<Run>;
  /** Scope `runs:cancel`. */
  cancel(caller: MountCaller, runId: string): Promise<Run>;
  /** Answers the interrupt that a run waits on. Scope `approvals:respond`. */
  respond(caller: MountCaller, runId: string, resumeValue: Json): Promise<Run>;
  /** The newest event of a run, if it has any. Holding the run is what permits it. */
  last(run: Run): Promise<RunEvent | undefined>;
  /**
   * The events behind a sequence and those to come, up to the one that ends the run. It ends early with the signal, with the host and
   * with the caller's credential. Scope `runs:read`.
   */
  follow(caller: MountCaller, run: Run, after: number, signal: AbortSignal): AsyncGenerator<RunEvent, void, undefined>;
  /** The run once it has ended or asks for something, or as it is after `waitMs`. Scope `runs:read`. */
  settled(caller: MountCaller, run: Run, waitMs: number, gone: AbortSignal): Promise<Run>;
  /** What a run has made. Scope `artifacts:read`; none without it. */
  artifacts(caller: MountCaller, run: Run): Promise<readonly RunArtifact[]>;
}

export interface RunArtifact {
  readonly artifactId: string;
  readonly content: Json;
}
