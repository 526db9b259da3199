import type { ContractWorkflows } from './contract-workflows.ts';
import type { HostProcess } from './host-process.ts';
import type { EngineAssertions } from './options.ts';
import type { World } from './world.ts';

/** The means of each part of the contract. */
export interface EngineContract {
  /** Registers a test. Its processes share one database file, which is removed afterwards. */
  readonly onHost: (title: string, body: (world: World) => Promise<void>) => void;
  readonly assert: EngineAssertions;
  readonly workflows: ContractWorkflows;
}

/**
 * Runs `work` on a process of its own, and stops it.
 *
 * @param options as for `World.boot`
 */
export async function onProcess<T>(
  world: World,
  work: (process: HostProcess) => Promise<T>,
  options?: Parameters<World['boot']>[0],
): Promise<T> {
  const process = await world.boot(options);
  const result = await work(process);
  await process.stop();
  return result;
}
