import { systemClock, systemRandom, type WorkflowEngine, wrapEngine } from '@svc/host-kit';
import { EarlierTurns } from './earlier-turns.ts';
import { checkedOptions, type DbosEngineOptions } from './options.ts';
import { ProcessOfDbos } from './process-of-dbos.ts';
import { TurnInDbos } from './turn-in-dbos.ts';

/** An engine on DBOS, with its connections to the database. */
export interface DbosEngine extends WorkflowEngine {
  /** Ends DBOS in this process. Call it after the host has stopped. A second call does nothing. */
  close(): Promise<void>;
}

/**
 * Starts DBOS in this process, and returns an engine whose runs it executes. Each call of `execute` is a workflow of
 * DBOS with the id `<runId>:<epoch>:<number of recorded events>`, and each node is a step in it. The log of the run stays the record from
 * which a run goes on; DBOS gets names, times and outcomes, and no value of a run.
 *
 * A process has at most one engine on DBOS, because DBOS has one state for each process.
 *
 * @throws {TypeError} for an option outside of its range
 * @throws {Error} when this process has DBOS already, and when the database cannot be reached
 * @example
 * const engine = await dbosEngine({ engine: stepsEngine({ workflows: [publish] }), databaseUrl });
 * const host = createHost({ engine, store: await postgresStore({ url: databaseUrl }), ...others });
 * // At the end of the process:
 * await host.stop(5000);
 * await engine.close();
 */
export async function dbosEngine(options: DbosEngineOptions): Promise<DbosEngine> {
  const {
    engine: given,
    clock = systemClock,
    random = systemRandom,
    log = () => {},
    ...checked
  } = checkedOptions(options);
  const engine = wrapEngine(given);
  const dbos = await ProcessOfDbos.launch({ ...checked, version: engine.version, random, log });
  const earlier = new EarlierTurns(dbos, { clock, log, turnDays: checked.turnDays });
  earlier.removeRegularly();
  let closing: Promise<void> | undefined;

  return {
    ...wrapEngine(engine, {
      execute: (run, execution) => new TurnInDbos({ run, execution, engine, dbos, earlier, clock }).outcome(),
    }),
    close() {
      closing ??= earlier.close().then(() => dbos.close());
      return closing;
    },
  };
}
