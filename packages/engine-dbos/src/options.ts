import type { Clock, Log, Random, WorkflowEngine } from '@svc/host-kit';

/** The parts of an engine on DBOS. */
export interface DbosEngineOptions {
  /** The engine whose turns DBOS executes, such as one of `stepsEngine`. */
  readonly engine: WorkflowEngine;
  /** `postgres://…` of the database in which DBOS keeps its tables: that of the host's store. */
  readonly databaseUrl: string;
  /** The schema of these tables, 1 to 63 characters. Default: `dbos`. */
  readonly schema?: string;
  /** The name of the application in DBOS, 1 to 256 characters. Hosts on one database share it. Default: `svc-host`. */
  readonly application?: string;
  /** The most connections to the database, 2 to 1000. Default: 10. */
  readonly connections?: number;
  /** The days for which an ended turn is kept in DBOS, 1 to 3650. Default: 7. */
  readonly turnDays?: number;
  /** Takes the warnings and errors of DBOS. Default: they are not written. */
  readonly log?: Log;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
  /** Draws the id of this process in DBOS. Default: `systemRandom`. */
  readonly random?: Random;
}

/** Options with their defaults. */
export type CheckedOptions = DbosEngineOptions &
  Required<Pick<DbosEngineOptions, 'schema' | 'application' | 'connections' | 'turnDays'>>;

/**
 * Completes the options of an engine on DBOS.
 *
 * @throws {TypeError} for an unknown option, and one outside of its range
 */
export function checkedOptions(options: DbosEngineOptions): CheckedOptions {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(KNOWN, name));
  if (unknown !== undefined) throw new TypeError(`dbosEngine: ${unknown} is not an option. Remove it.`);
  const { schema = 'dbos', application = 'svc-host', connections = 10, turnDays = 7, ...others } = options;
  if (typeof others.engine?.execute !== 'function') {
    throw new TypeError('dbosEngine: engine is not a workflow engine. Pass one, such as stepsEngine({ workflows }).');
  }
  if (!/^postgres(?:ql)?:\/\/./.test(others.databaseUrl)) {
    throw new TypeError('dbosEngine: databaseUrl is not the URL of a PostgreSQL. Write postgres://USER@HOST/DATABASE.');
  }
  requireText('schema', schema, 63);
  requireText('application', application, 256);
  requireWhole('connections', connections, 2, 1000);
  requireWhole('turnDays', turnDays, 1, 3650);
  return { ...others, schema, application, connections, turnDays };
}

const KNOWN: Readonly<Record<keyof DbosEngineOptions, true>> = {
  ...{ engine: true, databaseUrl: true, schema: true, application: true, connections: true },
  ...{ turnDays: true, log: true, clock: true, random: true },
};

function requireText(name: string, value: string, longest: number): void {
  // DBOS writes the name of its schema into statements.
  if (typeof value === 'string' && /^[A-Za-z0-9_-]+$/.test(value) && value.length <= longest) return;
  throw new TypeError(`dbosEngine: ${name} must be 1 to ${longest} characters of A-Z a-z 0-9 _ -.`);
}

function requireWhole(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new TypeError(`dbosEngine: ${name} must be a whole number from ${least} to ${most}.`);
}
