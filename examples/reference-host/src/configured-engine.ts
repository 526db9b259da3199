import type { Log, WorkflowEngine } from '@svc/host-kit';
import type { Config } from './config.ts';
import { sampleEngine } from './engine/engine.ts';

/** The engine of a host, with what it holds. */
export interface ConfiguredEngine {
  readonly engine: WorkflowEngine;
  /** Frees what the engine holds, after the host has stopped. */
  close(): Promise<void>;
}

/**
 * Opens the engine that a configuration names. The workflows are the same on each.
 *
 * @throws {Error} when the database or the cluster of the engine cannot be reached
 */
export async function configuredEngine(
  { engine, store, restate }: Pick<Config, 'engine' | 'store' | 'restate'>,
  log: Log,
): Promise<ConfiguredEngine> {
  const sample = sampleEngine();
  if (engine === 'steps') return { engine: sample, close: async () => {} };
  if (engine === 'restate' && restate !== undefined) {
    const { restateEngine } = await import('@svc/engine-restate');
    const { handlerUrl, ...others } = restate;
    const opened = await restateEngine({
      ...{ engine: sample, log, ...others },
      ...(handlerUrl !== undefined && { handlerUrl }),
    });
    return { engine: opened, close: () => opened.close() };
  }
  const { dbosEngine } = await import('@svc/engine-dbos');
  const opened = await dbosEngine({ engine: sample, databaseUrl: store, log });
  return { engine: opened, close: () => opened.close() };
}
