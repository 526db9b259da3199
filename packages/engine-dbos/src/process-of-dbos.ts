import { AsyncLocalStorage } from 'node:async_hooks';
import { DBOS, type DLogger } from '@dbos-inc/dbos-sdk';
import type { Log, Random } from '@svc/host-kit';
import type { TurnEnd } from './turn-end.ts';

/** The settings of DBOS in a process. */
export interface LaunchOptions {
  readonly databaseUrl: string;
  readonly schema: string;
  readonly application: string;
  readonly connections: number;
  /** The version of the engine. */
  readonly version: number;
  readonly random: Random;
  readonly log: Log;
}

/** A turn to be started in DBOS. */
export interface TurnStart {
  readonly id: string;
  /** Names by which operators find the turn. */
  readonly attributes: Readonly<Record<string, string | number>>;
  /** The work. DBOS calls it once, in the context of its workflow. */
  readonly body: () => Promise<TurnEnd>;
}

/** DBOS in this process, from its launch to its shutdown. */
export class ProcessOfDbos {
  /** Calls a function outside of every workflow: within one, DBOS would start a child, and record each query as a step. */
  readonly outside: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
  readonly #log: Log;
  #isClosed = false;

  private constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Launches DBOS.
   *
   * @throws {Error} when this process has DBOS already, and when the database cannot be reached
   */
  static async launch({ random, log, ...options }: LaunchOptions): Promise<ProcessOfDbos> {
    if (isTaken || DBOS.isInitialized()) {
      throw new Error('dbosEngine: this process runs DBOS already. Close the former engine, or use another process.');
    }
    isTaken = true;
    const launched = new ProcessOfDbos(log);
    try {
      runTurn ??= DBOS.registerWorkflow(workOfTurn, { name: TURN });
      DBOS.setConfig({
        name: options.application,
        systemDatabaseUrl: options.databaseUrl,
        systemDatabaseSchemaName: options.schema,
        systemDatabasePoolSize: options.connections,
        applicationVersion: `${options.application}-${options.version}`,
        // Of its own in each process: DBOS recovers nothing by itself. The leases of the host decide who drives a run.
        executorID: Buffer.from(random(16)).toString('hex'),
        // No queue. A turn starts at once, in the process that has the lease of its run.
        listenQueues: [],
        // For messages between workflows, which turns do not send.
        useListenNotify: false,
        enableOTLP: false,
        tracingEnabled: false,
        logger: loggerOf(log),
      });
      await DBOS.launch();
      return launched;
    } catch (error) {
      await launched.close();
      throw error;
    }
  }

  /**
   * Starts a turn. Its id must not have been used before.
   *
   * @throws {Error} `isWorkflowIDInUseError` of DBOS, when the id was used
   * @returns a function that waits for the end of the turn in DBOS
   */
  async start({ id, attributes, body }: TurnStart): Promise<() => Promise<TurnEnd>> {
    const run = runTurn;
    if (this.#isClosed || run === undefined) throw new Error('dbosEngine: is closed. Open another engine.');
    bodies.set(id, body);
    try {
      const handle = await this.outside(() =>
        DBOS.startWorkflow(run, { ...START, workflowID: id, workflowAttributes: attributes })(),
      );
      return () => this.outside(() => handle.getResult());
    } catch (error) {
      bodies.delete(id);
      throw error;
    }
  }

  /** Ends DBOS in this process. A second call does nothing. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      await DBOS.shutdown();
    } catch (error) {
      this.#log({
        level: 'warn',
        event: 'dbos.close-failed',
        error: error instanceof Error ? error.message : typeof error,
      });
    } finally {
      isTaken = false;
    }
  }
}

/** The name of every turn in DBOS. */
export const TURN = 'svc.turn';

const START = { workflowIDReusePolicy: 'reject' } as const;

/** DBOS has one state for each process, and this is ours. */
let isTaken = false;
let runTurn: (() => Promise<TurnEnd>) | undefined;
/** The work of turns that DBOS is about to call, by id. */
const bodies = new Map<string, () => Promise<TurnEnd>>();

async function workOfTurn(): Promise<TurnEnd> {
  const id = DBOS.workflowID ?? '';
  const body = bodies.get(id);
  bodies.delete(id);
  // Resumed by an operator. Only the host decides when a run is driven, so nothing is to be done.
  if (body === undefined) return { left: 'gone' };
  return body();
}

function loggerOf(log: Log): DLogger {
  const write = (level: 'warn' | 'error') => (entry: unknown) => {
    // A failure of a turn is told by the host. What DBOS writes has no values of runs, because it gets none.
    log({ level, event: `dbos.${level}`, message: entry instanceof Error ? entry.message : String(entry) });
  };
  return { info: () => {}, debug: () => {}, warn: write('warn'), error: write('error') };
}
