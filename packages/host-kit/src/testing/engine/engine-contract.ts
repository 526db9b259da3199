import { childrenContract } from './children.ts';
import { compensationsContract } from './compensations.ts';
import type { EngineContract } from './contract.ts';
import { declarationsContract } from './declarations.ts';
import { disturbancesContract } from './disturbances.ts';
import { effectsAndArtifactsContract } from './effects-and-artifacts.ts';
import { forksContract } from './forks.ts';
import { killsContract } from './kills.ts';
import { leavingContract } from './leaving.ts';
import type { EngineContractOptions } from './options.ts';
import { outcomesContract } from './outcomes.ts';
import { questionsContract } from './questions.ts';
import { rejectedAppendsContract } from './rejected-appends.ts';
import { restsContract } from './rests.ts';
import { World } from './world.ts';

/**
 * Registers the tests of the promises that `WorkflowEngine` asks of an engine. Each test drives the engine in a real host
 * on an SQLite file, with a clock that stands still, and ends the host at chosen moments. The log of each run is then
 * judged. An engine that passes can be passed to `createHost`.
 *
 * The members of the engine choose the parts: for each kind of its `interrupts` and each mode of its `forks` there is a
 * test, and `workflows` must have the workflow for it.
 *
 * @throws {TypeError} for a part of `workflows` that does not have its form
 * @example
 * import assert from 'node:assert/strict';
 * import { test } from 'node:test';
 * import { engineContract } from '@svc/host-kit/testing/engine';
 *
 * engineContract({ test, assert, open: ({ clock }) => myEngine({ clock }), workflows });
 */
export function engineContract(options: EngineContractOptions): void {
  const { test, assert, workflows } = options;
  requireForm(options);
  for (const part of PARTS) part({ onHost, assert, workflows });

  function onHost(title: string, body: (world: World) => Promise<void>): void {
    test(title, async () => {
      const world = new World(options);
      try {
        await body(world);
      } finally {
        await world.end();
      }
    });
  }
}

const PARTS: readonly ((contract: EngineContract) => void)[] = [
  declarationsContract,
  outcomesContract,
  killsContract,
  rejectedAppendsContract,
  disturbancesContract,
  leavingContract,
  restsContract,
  questionsContract,
  forksContract,
  effectsAndArtifactsContract,
  childrenContract,
  compensationsContract,
];

function requireForm({ workflows }: EngineContractOptions): void {
  const { nodes, rest } = workflows;
  if (nodes.nodes.length < 2) throw new TypeError('engineContract: workflows.nodes.nodes must name two or more nodes.');
  if (rest === 'none') return;
  if (!Number.isInteger(rest.ms) || rest.ms < 10_000 || rest.ms > 1_000_000) {
    throw new TypeError('engineContract: workflows.rest.ms must be a whole number from 10000 to 1000000.');
  }
}
