import type { JsonObject } from '../../json.ts';
import { type EngineContract, onProcess } from './contract.ts';
import { GONE } from './host-process.ts';
import { judged, startsAfterEnds } from './judged-run.ts';

/** Tests of the turns of runs that nothing disturbs. */
export function outcomesContract({ onHost, assert, workflows }: EngineContract): void {
  const { nodes, echo, failure } = workflows;

  onHost('completes a run with its outputs, node by node, and returns the outcome once', (world) =>
    onProcess(world, async (process) => {
      const runId = await process.create(nodes.workflowId, nodes.inputs);
      const { run, completed, outputs, log } = await judged(process, assert, runId);
      assert.deepEqual(
        { status: run.status, completed, outputs, again: startsAfterEnds(log), turns: process.watched.turns.length },
        { status: 'completed', completed: nodes.nodes, outputs: nodes.outputs, again: [], turns: 1 },
      );
    }),
  );

  onHost('fails a run with the code and the node of its failure', (world) =>
    onProcess(world, async (process) => {
      const runId = await process.create(failure.workflowId, failure.inputs);
      const { run, log } = await judged(process, assert, runId);
      const last = log.at(-1)?.payload;
      const node = typeof last === 'object' && last !== null && 'failedNodeId' in last ? last.failedNodeId : undefined;
      assert.deepEqual(
        { status: run.status, code: run.error?.code, node, failed: nodesOf(log, 'node.failed') },
        { status: 'failed', code: failure.code, node: failure.nodeId, failed: [failure.nodeId] },
      );
    }),
  );

  onHost('drives many runs side by side, each with its own values', (world) =>
    onProcess(world, async (process) => {
      const values = Array.from({ length: 12 }, (_, index): JsonObject => ({ index, text: `run ${index}` }));
      const runIds = await Promise.all(values.map((value) => process.create(echo.workflowId, echo.inputs(value))));
      const ended = await Promise.all(runIds.map((runId) => judged(process, assert, runId)));
      assert.deepEqual(
        ended.map(({ outputs }) => outputs),
        values.map((value) => echo.outputs(value)),
      );
    }),
  );

  onHost('returns values as JSON has them', (world) =>
    onProcess(world, async (process) => {
      for (const value of VALUES) {
        const runId = await process.create(echo.workflowId, echo.inputs(value));
        const { outputs } = await judged(process, assert, runId);
        assert.deepEqual(JSON.stringify(outputs), JSON.stringify(echo.outputs(value)));
      }
    }),
  );

  onHost('ends a run with an oversized value', (world) =>
    onProcess(world, async (process) => {
      const value = { text: 'ä'.repeat(OVERSIZED) };
      const runId = await process.create(echo.workflowId, echo.inputs(value));
      const { run, outputs } = await judged(process, assert, runId);
      if (run.status === 'completed') assert.deepEqual(outputs, echo.outputs(value));
      else
        assert.deepEqual({ status: run.status, hasCode: run.error?.code !== '' }, { status: 'failed', hasCode: true });
    }),
  );

  onHost('fails a run whose workflow is gone', (world) =>
    onProcess(world, async (process) => {
      const { status, error } = await process.ends(await process.create(GONE, {}));
      assert.deepEqual({ status, hasError: error !== undefined }, { status: 'failed', hasError: true });
    }),
  );

  onHost('leaves a run that exceeds its limit of node executions', (world) =>
    onProcess(world, async (process) => {
      const configurable = { recursionLimit: 1 };
      const runId = await process.create(nodes.workflowId, nodes.inputs, { configurable });
      const { run, completed } = await judgedByLimit(process, runId);
      assert.deepEqual(
        { status: run.status, code: run.error?.code, completed },
        { status: 'failed', code: 'recursion_limit_exceeded', completed: nodes.nodes.slice(0, 1) },
      );
    }),
  );
}

type Process = Parameters<typeof judged>[0];

/** A node may be open when the kit ends the run. */
async function judgedByLimit(process: Process, runId: string) {
  await process.ends(runId);
  await process.left();
  const log = await process.log(runId);
  return { run: await process.read(runId), completed: nodesOf(log, 'node.completed') };
}

function nodesOf(log: Awaited<ReturnType<Process['log']>>, type: string): (string | undefined)[] {
  return log.filter((event) => event.type === type).map(({ nodeId }) => nodeId);
}

const VALUES: readonly JsonObject[] = [
  { text: '\u0000"\\ é 😀 \u2028', none: null, zero: 0, fraction: 0.1, list: [[], {}, [null]] },
  { constructor: 'text', toString: [], hasOwnProperty: { length: 0 } },
  {},
];

/** Just below the largest request body of a host, in characters of two bytes. */
const OVERSIZED = 520_000;
