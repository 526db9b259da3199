import { AuthError } from '@svc/auth';
import { HostError } from '../errors.ts';
import type { Executor } from '../execution/executor.ts';
import { resolveInterrupt } from '../interrupts/resolve.ts';
import { Unanswerable } from '../interrupts/unanswerable.ts';
import type { Run } from '../ports/runs.ts';
import { cancelRun } from '../runs/cancel.ts';
import { conflict, type RunServices } from '../runs/change-run.ts';
import { type CreateRunOptions, createRun } from '../runs/create.ts';
import { foundRun } from '../runs/find-run.ts';
import { type PollParts, poll } from '../streams/poll.ts';
import type { CallerRuns, MountCaller } from './caller-runs.ts';

export interface HostRunsOptions extends CreateRunOptions, RunServices {
  readonly streams: PollParts;
  readonly executor: Pick<Executor, 'execute' | 'notice'>;
}

/** The runs of a host, for its mounts. */
export function hostRuns(options: HostRunsOptions): CallerRuns {
  const { store, executor, streams, clock } = options;

  const runs: CallerRuns = {
    async create(caller, request) {
      const run = await createRun(options, await caller.permit('runs:create'), request);
      executor.execute(run);
      return run;
    },
    read,
    async last(run) {
      const [event] = await store.events.list(run, { after: run.lastSequence - 1, limit: 1 });
      return event;
    },
    async *follow(caller, run, after, signal) {
      let judged = await caller.permit('runs:read');
      for (let cursor = after, known = run; !signal.aborted; ) {
        const found = await poll(streams, {
          run: known,
          credentialId: judged.credentialId,
          after: cursor,
          until: Math.min(clock.now() + JUDGE_EVERY_MS, judged.expiresAt ?? Number.POSITIVE_INFINITY),
          gone: () => signal,
          current: () => read(caller, run.runId),
        });
        yield* found.events;
        if (found.isComplete) return;
        ({ cursor, run: known } = found);
        if (clock.now() >= (judged.expiresAt ?? Number.POSITIVE_INFINITY)) return;
        const again = await caller.judgeAgain();
        if (again === undefined) return;
        judged = again;
      }
    },
    async cancel(caller, runId) {
      const principal = await caller.permit('runs:cancel');
      const { run, hadEnded } = await cancelRun(options, principal, runId, { reason: undefined });
      if (hadEnded) throw conflict(run, 'cancelled');
      return run;
    },
    async respond(caller, runId, resumeValue) {
      const { currentNodeId: nodeId = '' } = await read(caller, runId);
      const principal = await caller.permit('approvals:respond');
      return resolveInterrupt(options, principal, { runId, nodeId }, resumeValue, async () => {}).catch(inProtocol);
    },
    async artifacts(caller, run) {
      const reader = await caller.permit('artifacts:read').catch((error: unknown) => {
        // Whoever may not read artifacts is shown none.
        if (AuthError.is(error)) return undefined;
        throw error;
      });
      const found = reader && (await store.runs.read(reader.tenancy, run.runId));
      return found?.kind === 'found' ? await store.artifacts.list(found.value, MOST_ARTIFACTS) : [];
    },
    async settled(caller, run, waitMs, gone) {
      const waiting = new AbortController();
      const cancel = clock.at(clock.now() + waitMs, () => waiting.abort());
      try {
        for await (const { type } of runs.follow(
          caller,
          run,
          run.lastSequence,
          AbortSignal.any([waiting.signal, gone]),
        )) {
          if (type === 'interrupt.requested') break;
        }
      } finally {
        cancel();
      }
      return read(caller, run.runId);
    },
  };
  return runs;

  async function read(caller: MountCaller, runId: string): Promise<Run> {
    const { tenancy } = await caller.permit('runs:read');
    return foundRun(await store.runs.read(tenancy, runId));
  }
}

function inProtocol(error: unknown): never {
  if (!(error instanceof Unanswerable)) throw error;
  throw new HostError('interrupt_already_resolved', 'The run waits for no answer.', { details: undefined });
}

const MOST_ARTIFACTS = 100;
const JUDGE_EVERY_MS = 30_000;
