import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../ports/events.ts';
import { memoryStore } from '../stores/memory/index.ts';
import { sampleRun } from '../testing/store-contract/samples.ts';
import { NodeLimits } from './limits.ts';

const NODE = { nodeId: 'n' };
const STARTED = { type: 'node.started', ...NODE, payload: { ...NODE, typeId: 'acme.n' } };

const completed = (sequence: number): RunEvent => ({
  ...{ eventId: `evt_${sequence}`, runId: 'run_1', sequence, timestamp: 0, schemaVersion: 1, engineVersion: 1 },
  ...{ type: 'node.completed', ...NODE, payload: { ...NODE } },
});

describe('a limit of two loop iterations', () => {
  const run = sampleRun({ runId: 'run_1', status: 'running' });

  async function limitsOf(): Promise<NodeLimits> {
    const limits = new NodeLimits(memoryStore(), run, { maxLoopIterations: 2, clarificationRounds: 3 });
    await limits.prepare();
    return limits;
  }

  test('counts an execution once when its transaction is undone and done again', async () => {
    const limits = await limitsOf();
    for (const _attempt of ['undone', 'undone', 'committed']) {
      limits.takeBack(0);
      limits.count([completed(1)]);
    }
    limits.committed(1);
    expect(limits.breachIn(run, [STARTED])).toBeUndefined();
  });

  test('counts the executions of earlier steps of the same transaction, and committed ones', async () => {
    const limits = await limitsOf();
    limits.takeBack(0);
    limits.count([completed(1)]);
    limits.committed(1);
    limits.takeBack(1);
    limits.count([completed(2)]);
    limits.takeBack(2);
    expect(limits.breachIn(run, [STARTED])?.at).toBe(0);
  });

  test('counts the executions of a node that only the payload names', async () => {
    const limits = await limitsOf();
    limits.takeBack(0);
    const { nodeId: _, ...unnamed } = completed(1);
    limits.count([unnamed, { ...unnamed, sequence: 2 }]);
    expect(limits.breachIn(run, [{ type: 'node.started', payload: STARTED.payload }])?.at).toBe(0);
    const other = { type: 'node.started', payload: { ...STARTED.payload, nodeId: 'other' } };
    expect(limits.breachIn(run, [other])).toBeUndefined();
  });
});
