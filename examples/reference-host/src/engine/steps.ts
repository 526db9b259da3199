import type { Execution } from '@svc/host-kit';
import type { Journal, NodeOutcome } from './journal.ts';
import { NodeFailure, type NodeWork, type Steps } from './workflow.ts';

/**
 * Makes the steps of one turn. A node that the journal records as ended returns its recorded outcome and does not run
 * again.
 *
 * @param now the time of the day, in ms since the epoch
 */
export function stepsOf(execution: Execution, journal: Journal, now: () => number = Date.now): Steps {
  const { append, artifact, interrupt, replayed, until, signal, secret, files, fetch, effect } = execution;

  return {
    async node(nodeId, typeId, work, options) {
      const record = journal.node(nodeId);
      if (record.outcome !== undefined) return outputsOf(nodeId, record.outcome);
      if (replayed !== undefined) return outputsOf(nodeId, await replayed(nodeId));
      const goesOn = options?.goesOn === true && record.starts > 0;
      const attempt = goesOn ? record.starts - 1 : record.starts;
      const start = { type: 'node.started', nodeId, payload: { nodeId, typeId, attempt } };
      const [started] = goesOn ? [] : await append(start);
      // A host whose clock was ahead may have recorded a start that is still to come. It must not prolong the wait.
      const startedAt = Math.min(record.startedAt ?? started?.timestamp ?? 0, now());
      const rest = (ms: number) => until(startedAt + ms + journal.pausedSince(startedAt));
      const write = async (lines: readonly string[]) => {
        await append(...lines.map((message) => logged(nodeId, message)));
      };
      try {
        const ask: NodeWork['ask'] = (question) => interrupt({ nodeId, ...question });
        const make: NodeWork['make'] = async (made) => (await artifact({ nodeId, ...made })).artifactId;
        const once: NodeWork['effect'] = (request, perform) => effect({ nodeId, ...request }, perform);
        const { lines, artifacts } = record;
        const reach = { signal, secret, files, fetch, effect: once };
        const outputs = await work({ rest, ask, make, write, lines, artifacts, ...reach });
        await append({ type: 'node.completed', nodeId, payload: { nodeId, outputs } });
        return outputs;
      } catch (error) {
        if (!(error instanceof NodeFailure)) throw error;
        const { failure } = error;
        await append({
          type: 'node.failed',
          nodeId,
          payload: { nodeId, error: { ...failure }, attempts: attempt + 1 },
        });
        throw new NodeFailure(failure, { cause: error, nodeId });
      }
    },
  };
}

function logged(nodeId: string, message: string) {
  return { type: 'log.appended', nodeId, payload: { nodeId, level: 'info', message } };
}

function outputsOf(nodeId: string, outcome: NodeOutcome) {
  if (outcome.status === 'completed') return outcome.outputs;
  throw new NodeFailure(outcome.error, { nodeId });
}
