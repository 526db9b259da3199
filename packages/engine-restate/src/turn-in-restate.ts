import {
  type Clock,
  type Execution,
  type Random,
  type Run,
  RunLeft,
  type RunOutcome,
  type WorkflowEngine,
} from '@svc/host-kit';
import type { Cluster } from './cluster.ts';
import { NodesInRestate } from './nodes-in-restate.ts';
import type { TurnEnd } from './turn-end.ts';
import type { TurnService } from './turn-service.ts';

interface TurnParts {
  readonly run: Run;
  readonly execution: Execution;
  readonly engine: WorkflowEngine;
  readonly cluster: Cluster;
  readonly service: TurnService;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Executes a turn, as `WorkflowEngine.execute` says: one call of `execute`, which is one invocation of Restate. The turn
 * begins when Restate calls for it, and is executed in the context of the caller, such as its trace.
 */
export async function turnInRestate(parts: TurnParts): Promise<RunOutcome> {
  const { run, execution, cluster, service, clock, random } = parts;
  const { runId, epoch = 0, lastSequence, workflowId } = run;
  // The former holder of the lease was killed, or goes on without it. The store refuses what that one would still record.
  if (epoch > 0) cluster.killEarlier(runId, epoch);
  // Random, because a turn that records nothing has the same number of events as the next one, and no stranger may know it.
  const turn = `${runId}:${epoch}:${lastSequence + 1}:${Buffer.from(random(16)).toString('hex')}`;
  const nodes = new NodesInRestate(execution);
  const giveUp = new AbortController();
  service.turns.set(turn, nodes);
  let isOver = false;
  const invoked = cluster.invoke({ turn, run: runId, workflow: workflowId, epoch }, giveUp.signal).then(() => {
    if (!isOver) nodes.stop();
  });
  try {
    return await executed(parts, nodes);
  } finally {
    isOver = true;
    await settledWithin(invoked, clock);
    giveUp.abort();
    service.turns.delete(turn);
  }
}

/** The work of the turn. Restate gets the kind of its end, and neither values nor errors. */
async function executed({ run, execution, engine }: TurnParts, nodes: NodesInRestate): Promise<RunOutcome> {
  const { signal } = execution;
  let end: TurnEnd = FAILED;
  try {
    await nodes.attended();
    signal.throwIfAborted();
    const outcome = await engine.execute(run, { ...execution, append: nodes.append });
    end = endOf(outcome);
    return outcome;
  } catch (error) {
    if (signal.aborted) end = leftOf(signal);
    else if (nodes.wasStopped) return STOPPED_IN_RESTATE;
    throw error;
  } finally {
    nodes.close(end);
  }
}

/** Waits until Restate has stored the end of the turn. The outcome stands without it: the log is the record. */
function settledWithin(stored: Promise<void>, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(STORE_WITHIN_MS, resolve);
    const settled = (): void => {
      cancel();
      resolve();
    };
    stored.then(settled, settled);
  });
}

function endOf(outcome: RunOutcome): TurnEnd {
  return outcome?.status === 'failed' ? { status: 'failed', code: outcome.error.code } : { status: 'completed' };
}

function leftOf({ reason }: AbortSignal): TurnEnd {
  return { left: reason instanceof RunLeft ? reason.why : 'gone' };
}

const FAILED: TurnEnd = { status: 'failed', code: 'internal_error' };

const STOPPED_IN_RESTATE: RunOutcome = {
  status: 'failed',
  error: {
    code: 'turn_cancelled',
    message: 'The turn of the run was cancelled in Restate. Start another run.',
    retryable: true,
  },
};

const STORE_WITHIN_MS = 5000;
