import { reachesWorkspace, type Tenancy } from '@svc/auth';
import { ABSENT, type Lookup, OTHER_WORKSPACE } from '../../lookup.ts';
import type { ChildPage, Run, RunStore } from '../../ports/runs.ts';
import { PassedOver, type RecordReader, readRecord } from '../passed-over.ts';
import { integer, optional, type Row, text } from '../sql/row.ts';
import { documentOf, RUNS, relativesOf, STATE_COLUMNS, stateOf } from '../sql/runs.ts';
import type { Database, Statement } from './database.ts';
import { runRemoval } from './run-removal.ts';

/** The database's clock, in ms since the epoch, because the clocks of the hosts may differ. */
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
/** The statuses in which a host drives a run and holds its lease. */
const EXECUTABLE = `status IN ('pending', 'running', 'cancelling')`;

const STATE_TYPES: Readonly<Record<(typeof STATE_COLUMNS)[number], string>> = {
  status: 'text',
  last_sequence: 'bigint',
  started_at: 'bigint',
  completed_at: 'bigint',
  error: 'text',
  open_nodes: 'text',
  current_node_id: 'text',
  pause_request: 'text',
  paused_at: 'bigint',
  cancel_request: 'text',
  usage: 'text',
  files_revision: 'bigint',
  compensation: 'text',
};
const COLUMNS = [
  'run_id',
  'tenant',
  'workspace',
  'mode',
  'scope_id',
  'conversation',
  'fork_source',
  'parent_run_id',
  'parent_node_id',
  'document',
  ...STATE_COLUMNS,
];
const INSERT = {
  name: 'runs-insert',
  text: `INSERT INTO runs (${COLUMNS.join(', ')}, holder, held_until)
    VALUES (${COLUMNS.map((_, index) => `$${index + 3}`).join(', ')}, $1, ${NOW} + $2)`,
};
const READ = { name: 'runs-read', text: 'SELECT * FROM runs WHERE run_id = $1 AND tenant = $2 AND mode = $3' };
const FOR_CHANGE = { name: 'runs-for-change', text: `${READ.text} FOR UPDATE` };
const LIST = { first: listing('runs-list', ''), next: listing('runs-list-next', 'AND run_id < $4') };
const LIST_IN = { first: listingIn('runs-list-in', ''), next: listingIn('runs-list-in-next', 'AND run_id < $5') };
const OF_CONVERSATION = {
  name: 'runs-of-conversation',
  text: `SELECT * FROM runs WHERE tenant = $1 AND mode = $2 AND conversation = $3
    AND ($5::text[] IS NULL OR workspace = ANY ($5)) ORDER BY run_id DESC LIMIT $4`,
};
const FOR_APPEND = {
  name: 'runs-for-append',
  // Locks in one order, so that two transactions that lock several runs do not deadlock.
  text: 'SELECT * FROM runs WHERE run_id = ANY ($1::text[]) ORDER BY run_id FOR UPDATE',
};
const ASK_ALONE = {
  name: 'runs-ask-alone',
  text: `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`,
};
const ACTIVE = {
  name: 'runs-active',
  text: `SELECT * FROM runs WHERE scope_id = $1 AND tenant = $2 AND mode = $3 AND workspace IS NOT DISTINCT FROM $4
    AND status NOT IN ('completed', 'failed', 'cancelled') LIMIT 1`,
};
const UPDATE = {
  name: 'runs-update',
  // A run that waits has no holder. The host that resumes it claims it.
  text: `UPDATE runs SET ${STATE_COLUMNS.map((column) => `${column} = changed.${column}`).join(', ')},
    held_until = CASE WHEN changed.status IN ('pending', 'running', 'cancelling') THEN held_until ELSE 0 END
    FROM unnest($1::text[], ${STATE_COLUMNS.map((column, index) => `$${index + 2}::${STATE_TYPES[column]}[]`).join(', ')})
      AS changed (run_id, ${STATE_COLUMNS.join(', ')})
    WHERE runs.run_id = changed.run_id`,
};
const CLAIM = {
  name: 'runs-claim',
  text: `UPDATE runs SET epoch = epoch + 1, holder = $2, held_until = ${NOW} + $3 WHERE run_id = $1 RETURNING epoch`,
};
const LAST_SEQUENCES = {
  name: 'runs-last-sequences',
  text: 'SELECT run_id, last_sequence FROM runs WHERE run_id = ANY($1)',
};
const TAKE_UP = {
  name: 'runs-take-up',
  // A new epoch, so that a former holder that is still alive appends nothing more.
  text: `UPDATE runs SET epoch = epoch + (holder <> $1)::int, holder = $1, held_until = ${NOW} + $2 WHERE run_id IN (
      SELECT run_id FROM runs WHERE ${EXECUTABLE} AND run_id > $3 AND (holder = $1 OR held_until < ${NOW})
      ORDER BY run_id LIMIT $4 FOR UPDATE SKIP LOCKED)
    RETURNING *`,
};
const TO_STOP = {
  name: 'runs-to-stop',
  text: `SELECT * FROM runs WHERE run_id = ANY($1)
    AND (status NOT IN ('pending', 'running') OR pause_request IS NOT NULL)`,
};
const CHILD = { name: 'runs-child', text: 'SELECT * FROM runs WHERE parent_run_id = $1 AND parent_node_id = $2' };
const OF = 'AND (child.parent_run_id = $3 OR child.run_id = $3)';
/** The queries of children that the sweep acts on. */
export const ORPHANS: Listed = { all: orphans('runs-orphans', ''), of: orphans('runs-orphans-of', OF) };
export const AWAITED: Listed = { all: awaited('runs-awaited', ''), of: awaited('runs-awaited-of', OF) };
// Locks in the same order as FOR_APPEND.
const HELD = `run_id IN (SELECT run_id FROM runs WHERE holder = $1 AND ${EXECUTABLE} ORDER BY run_id FOR UPDATE)`;
const RENEW_LEASE = { name: 'runs-hold', text: `UPDATE runs SET held_until = ${NOW} + $2 WHERE ${HELD}` };
const END_LEASE = { name: 'runs-let-go', text: `UPDATE runs SET held_until = 0 WHERE ${HELD}` };

/** The runs, and this host's lease on those that it drives. */
export interface HeldRuns extends RunStore {
  /** Renews the lease on all runs that this host drives. */
  renewLease(): Promise<void>;
  /** Ends the lease on all runs that this host drives, so that other hosts take them over at once. */
  endLease(): Promise<void>;
}

/**
 * @param holder identifies this host among those that share the database
 * @param leaseMs duration of the lease in ms
 */
export function runStore(
  database: Database,
  holder: string,
  leaseMs: number,
  passedOver: PassedOver = new PassedOver(),
): HeldRuns {
  return {
    ...runRemoval(database),
    async insert(run, transaction) {
      const { runId, tenant, workspace = null, mode, scopeId = null, conversation = null } = run;
      const definition = [runId, tenant, workspace, mode, scopeId, conversation, ...relativesOf(run), documentOf(run)];
      await database.within(transaction, INSERT, [holder, leaseMs, ...definition, ...stateOf(run)]);
    },
    async read(tenancy, runId) {
      const { rows } = await database.query(READ, [runId, tenancy.tenant, tenancy.mode]);
      return lookup(tenancy, rows[0], heldRunOf);
    },
    async readForChange(tenancy, runId, transaction) {
      const { rows } = await database.within(transaction, FOR_CHANGE, [runId, tenancy.tenant, tenancy.mode]);
      return lookup(tenancy, rows[0], heldRunOf);
    },
    async list({ tenant, mode, workspaces }, { before, limit }) {
      return await passedOver.page(HELD_RUNS, { after: before, limit }, async (from, most) => {
        const page = from === undefined ? 'first' : 'next';
        const cursor = from === undefined ? [] : [from];
        const found =
          workspaces === 'all'
            ? database.query(LIST[page], [tenant, mode, most, ...cursor])
            : database.query(LIST_IN[page], [tenant, mode, most, workspaces, ...cursor]);
        return (await found).rows;
      });
    },
    async ofConversation({ tenant, mode, workspaces }, conversation, limit) {
      const reach = workspaces === 'all' ? null : [...workspaces];
      const { rows } = await database.query(OF_CONVERSATION, [tenant, mode, conversation, limit, reach]);
      return passedOver.all(HELD_RUNS, rows);
    },
    async forAppend(runIds, transaction) {
      return (await database.within(transaction, FOR_APPEND, [[...runIds]])).rows.map(heldRunOf);
    },
    async activeIn({ tenant, workspace = null, mode, scopeId = null }, transaction) {
      await database.within(transaction, ASK_ALONE, [JSON.stringify([tenant, workspace, mode, scopeId])]);
      const [row] = (await database.within(transaction, ACTIVE, [scopeId, tenant, mode, workspace])).rows;
      return row === undefined ? undefined : heldRunOf(row);
    },
    async update(runs, transaction) {
      const states = runs.map(stateOf);
      const columns = STATE_COLUMNS.map((_, index) => states.map((state) => state[index] ?? null));
      await database.within(transaction, UPDATE, [runs.map(({ runId }) => runId), ...columns]);
    },
    async claim(run, transaction) {
      const [row] = (await database.within(transaction, CLAIM, [run.runId, holder, leaseMs])).rows;
      return row === undefined ? run : { ...run, epoch: integer(row, 'epoch') };
    },
    async lastSequences(runIds) {
      const { rows } = await database.query(LAST_SEQUENCES, [[...runIds]]);
      return rows.map((row) => [text(row, 'run_id'), integer(row, 'last_sequence')]);
    },
    unfinished: ({ after = '', limit }) =>
      passedOver.page(HELD_RUNS, { after, limit }, async (from, most) => {
        const { rows } = await database.query(TAKE_UP, [holder, leaseMs, from, most]);
        return [...rows].sort((a, b) => (HELD_RUNS.idOf(a) < HELD_RUNS.idOf(b) ? -1 : 1));
      }),
    async toStop(runIds) {
      return passedOver.all(HELD_RUNS, (await database.query(TO_STOP, [runIds])).rows);
    },
    async childOf({ runId, nodeId }, transaction) {
      const [row] = (await database.within(transaction, CHILD, [runId, nodeId])).rows;
      return row === undefined ? undefined : heldRunOf(row);
    },
    orphans: (page) => children(ORPHANS, page),
    awaited: (page) => children(AWAITED, page),
    async renewLease() {
      await database.query(RENEW_LEASE, [holder, leaseMs]);
    },
    async endLease() {
      await database.query(END_LEASE, [holder]);
    },
  };

  function children(listed: Listed, { after = '', limit, of }: ChildPage): Promise<Run[]> {
    return passedOver.page(HELD_RUNS, { after, limit }, async (from, most) => {
      const found =
        of === undefined ? database.query(listed.all, [from, most]) : database.query(listed.of, [from, most, of]);
      return (await found).rows;
    });
  }

  function heldRunOf(row: Row): Run {
    return passedOver.reported(() => readRecord(HELD_RUNS, row));
  }
}

type Listed = Readonly<Record<'all' | 'of', Statement>>;

function orphans(name: string, of: string): Statement {
  return {
    name,
    text: `SELECT child.* FROM runs AS child JOIN runs AS parent ON parent.run_id = child.parent_run_id
      WHERE child.parent_run_id IS NOT NULL AND child.status NOT IN ('completed', 'failed', 'cancelled', 'cancelling')
        AND parent.status IN ('completed', 'failed', 'cancelled', 'cancelling') AND child.run_id > $1 ${of}
      ORDER BY child.run_id LIMIT $2`,
  };
}

function awaited(name: string, of: string): Statement {
  return {
    name,
    text: `SELECT child.* FROM runs AS parent JOIN runs AS child
        ON child.parent_run_id = parent.run_id AND child.parent_node_id = parent.current_node_id
      WHERE parent.status = 'waiting-external' AND child.parent_run_id IS NOT NULL
        AND child.status IN ('completed', 'failed', 'cancelled') AND child.run_id > $1 ${of}
      ORDER BY child.run_id LIMIT $2`,
  };
}

function listing(name: string, after: string): Statement {
  return {
    name,
    text: `SELECT * FROM runs WHERE tenant = $1 AND mode = $2 ${after} ORDER BY run_id DESC LIMIT $3`,
  };
}

/** The index sorts the runs of one workspace, not of several: takes the newest of each, and the newest of these. */
function listingIn(name: string, after: string): Statement {
  return {
    name,
    text: `SELECT run.* FROM unnest($4::text[]) AS reached, LATERAL (
        SELECT * FROM runs WHERE tenant = $1 AND mode = $2 AND workspace = reached ${after}
        ORDER BY run_id DESC LIMIT $3) AS run
      ORDER BY run.run_id DESC LIMIT $3`,
  };
}

function lookup(tenancy: Tenancy, row: Row | undefined, read: (row: Row) => Run): Lookup<Run> {
  if (row === undefined) return ABSENT;
  const reached = reachesWorkspace(tenancy, optional(row, 'workspace', text));
  return reached ? { kind: 'found', value: read(row) } : OTHER_WORKSPACE;
}

/** Reads the rows of runs, with the epoch of the host that drives each. */
const HELD_RUNS: RecordReader<Row, Run> = {
  ...RUNS,
  read(row) {
    const epoch = integer(row, 'epoch');
    return { ...RUNS.read(row), ...(epoch > 0 && { epoch }) };
  },
};
