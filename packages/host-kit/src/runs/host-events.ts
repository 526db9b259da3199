import type { JsonObject } from '../json.ts';
import type { Artifact } from '../ports/artifacts.ts';
import type { NewEvent, RunOutcome } from '../ports/engine.ts';
import type { Run, RunFailure } from '../ports/runs.ts';

/** Makes `run.started`. It has no owner: `wire/event.ts` adds it in the shape of the reader's major. */
export function startedEvent(run: Run): NewEvent {
  const { workflowId, inputs, transport = 'rest', engineVersion, tags, metadata, causationId } = run;
  const payload = { workflowId, inputs, transport, engineVersion, tags };
  return {
    type: 'run.started',
    payload: { ...payload, ...(metadata !== undefined && { metadata }) },
    ...(causationId !== undefined && { causationId }),
  };
}

/**
 * Makes `run.completed` or `run.failed`.
 *
 * @param now in ms since the epoch
 */
export function endedEvent(run: Run, outcome: RunOutcome, now: number): NewEvent {
  if (outcome.status === 'completed') {
    return { type: 'run.completed', payload: { outputs: outcome.outputs, ...lasted(run, now) } };
  }
  const { error, failedNodeId } = outcome;
  const failed = failedNodeId === undefined ? {} : { failedNodeId };
  return { type: 'run.failed', payload: { error: failureJson(error), ...failed, ...lasted(run, now) } };
}

/** Makes `run.paused` for a requested pause. Names the node that the pause interrupts, if any. */
export function pausedEvent({ pauseRequest, openNodes }: Run): NewEvent {
  const { drainPolicy = 'drain-current-node', reason } = pauseRequest ?? {};
  const cut = drainPolicy === 'immediate' ? openNodes?.at(-1) : undefined;
  const interrupted = cut === undefined ? {} : { interruptedNodeId: cut.nodeId, interruptedAttempt: cut.attempt };
  return { type: 'run.paused', payload: { ...(reason !== undefined && { reason }), drainPolicy, ...interrupted } };
}

/** Makes `node.cancelled` for each open node, then `run.cancelled`. */
export function cancelledEvents(run: Run, now: number): readonly NewEvent[] {
  const { openNodes = [], cancelRequest: { reason, by, parentRunId } = {} } = run;
  return [
    ...openNodes.map(({ nodeId }) => ({
      type: 'node.cancelled',
      nodeId,
      payload: { nodeId, reason: 'run-cancelled' },
    })),
    {
      type: 'run.cancelled',
      payload: {
        ...(reason !== undefined && { reason }),
        ...(by !== undefined && { cancelledBy: by }),
        ...(parentRunId !== undefined && { parentRunId }),
        ...lasted(run, now),
      },
    },
  ];
}

/** Makes `artifact.created`. */
export function artifactEvent({ artifactId, artifactType, nodeId }: Artifact, summary: string | undefined): NewEvent {
  const of = nodeId === undefined ? {} : { nodeId };
  const payload = { artifactId, artifactType, version: 1, ...of, ...(summary !== undefined && { summary }) };
  return { type: 'artifact.created', payload, ...of };
}

function lasted({ startedAt }: Run, now: number): JsonObject {
  return startedAt === undefined ? {} : { durationMs: Math.max(now - startedAt, 0) };
}

function failureJson({ code, message, details, retryable }: RunFailure & { readonly retryable?: boolean }): JsonObject {
  return {
    code,
    message,
    ...(details !== undefined && { details }),
    ...(retryable !== undefined && { retryable }),
  };
}
