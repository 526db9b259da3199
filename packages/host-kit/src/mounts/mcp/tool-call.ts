import { isJsonObject, type JsonObject } from '../../json.ts';
import { isTerminal, type Run } from '../../ports/runs.ts';
import { snapshotBody } from '../../wire/run.ts';
import type { CallerRuns, MountCaller } from '../caller-runs.ts';
import type { MountServices } from '../mount.ts';

/** The caller of one request, with everything that a tool needs to serve it. */
export interface ToolCall extends Pick<MountServices, 'runs' | 'clock' | 'implementation' | 'refusalOf'> {
  readonly caller: MountCaller;
  /** Aborted when the caller disconnects. */
  readonly gone: AbortSignal;
  /** The suggested time between two reads of a task, in ms. */
  readonly pollIntervalMs: number;
  /** The time for which an ended run is kept, in ms. Undefined: for ever. */
  readonly retentionMs: number | undefined;
}

/** A result of a tool: the object as text and as data. */
export function toolResult(result: JsonObject) {
  return { content: [{ type: 'text' as const, text: JSON.stringify(result) }], structuredContent: result };
}

/** The result of a call that started a run: its snapshot. `isError` tells that the run has failed. */
export async function runResult(runs: CallerRuns, run: Run) {
  const result = toolResult(await snapshotWithResult(runs, run));
  return run.status === 'failed' ? { ...result, isError: true } : result;
}

/** The snapshot of a run, with the outputs of a completed run or the open question of a waiting one. */
export async function snapshotWithResult(runs: CallerRuns, run: Run): Promise<JsonObject> {
  const last = isTerminal(run.status) ? await runs.last(run) : undefined;
  const payload = last?.payload;
  const outputs = last?.type === 'run.completed' && isJsonObject(payload) ? payload.outputs : undefined;
  const question = await runs.question(run);
  return {
    ...snapshotBody(2, run),
    runId: run.runId,
    ...(outputs !== undefined && { outputs }),
    ...(question !== undefined && { question }),
  };
}
