import type { MountCall } from '../http/route.ts';
import type { Json, JsonObject } from '../json.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Save } from '../ports/idempotency.ts';
import type { Interrupt } from '../ports/interrupts.ts';
import type { Run } from '../ports/runs.ts';
import type { RunRequest } from '../runs/create.ts';
import type { RunPage, RunQuery } from '../runs/list.ts';

/** The caller of a mount, with the functions that check its scopes. */
export type MountCaller = Pick<MountCall, 'principal' | 'permit' | 'judgeAgain'>;

/**
 * The operations on runs that a mount can call for a caller. Each checks scope, role and tenancy and writes an audit
 * fact like the operation of the protocol. A mount has no other access to runs.
 *
 * An anonymous caller reaches the runs of its own session alone: any other run is `not_found` for it.
 *
 * Every function rejects with the `AuthError` or `HostError` of its operation.
 */
export interface CallerRuns {
  /**
   * Creates a run and starts it. Scope `runs:create`.
   *
   * @param save is called in the transaction that stores the run
   */
  create(caller: MountCaller, request: RunRequest, save?: Save<Run>): Promise<Run>;
  /** Reads a run. Scope `runs:read`. */
  read(caller: MountCaller, runId: string): Promise<Run>;
  /** Lists the runs that the caller reaches, newest first. Scope `runs:read`. */
  list(caller: MountCaller, query: RunQuery): Promise<RunPage>;
  /**
   * Lists up to `limit` runs of a conversation, newest first: those that the caller created with this `conversation`.
   * Scope `runs:read`.
   */
  ofConversation(caller: MountCaller, conversation: string, limit: number): Promise<readonly Run[]>;
  /** Cancels a run. Rejects with `run_terminal` when it has ended. Scope `runs:cancel`. */
  cancel(caller: MountCaller, runId: string): Promise<Run>;
  /**
   * Resolves the interrupt that a run waits for. Scopes `runs:read` and `approvals:respond`.
   *
   * @param question the question that the answer is for. Rejects with `interrupt_already_resolved` when it is not
   * pending. Default: the newest of the current node
   */
  respond(
    caller: MountCaller,
    runId: string,
    resumeValue: Json,
    question?: Pick<Interrupt, 'nodeId' | 'key'>,
  ): Promise<Run>;
  /** The last event of a run, if it has any. No scope is checked: the caller has read the run. */
  last(run: Run): Promise<RunEvent | undefined>;
  /**
   * The question that a run waits for, in the form of major 2: `{ kind, key, data, resumeSchema?, timeoutMs? }`.
   * Undefined when it waits for none. No scope is checked: the caller has read the run.
   */
  question(run: Run): Promise<JsonObject | undefined>;
  /**
   * Yields the events after a sequence, stored and new, up to the event that ends the run. Returns early when the
   * signal aborts and when the credential of the caller expires or is revoked. Rejects with `rate_limited` at the limit
   * of readers, and with `service_unavailable` when the host stops. Scope `runs:read`.
   */
  follow(caller: MountCaller, run: Run, after: number, signal: AbortSignal): AsyncGenerator<RunEvent, void, undefined>;
  /**
   * Waits up to `waitMs` milliseconds for a run to end or to ask a question, then reads it. Scope `runs:read`.
   *
   * @param heard is called with each event on the way
   */
  settled(
    caller: MountCaller,
    run: Run,
    waitMs: number,
    gone: AbortSignal,
    heard?: (event: RunEvent) => void,
  ): Promise<Run>;
  /** The first 100 artifacts of a run. Empty for a caller without the scope `artifacts:read`. */
  artifacts(caller: MountCaller, run: Run): Promise<readonly RunArtifact[]>;
}

/** An artifact of a run, as a mount sees it. */
export interface RunArtifact {
  readonly artifactId: string;
  readonly content: Json;
}
