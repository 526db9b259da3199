import { reachesWorkspace, type Tenancy } from '@svc/auth';
import { ABSENT, type Lookup, OTHER_WORKSPACE } from '../../lookup.ts';
import { isExecutable, isTerminal, type Run, type RunStore } from '../../ports/runs.ts';
import type { WorkspacePlace } from '../../ports/workspace.ts';
import { PassedOver, type RecordReader } from '../passed-over.ts';
import { runAsStored } from '../stored-run.ts';
import { familiesOf } from './families-of-runs.ts';
import { type Journal, put } from './journal.ts';
import type { RecordsOfRuns } from './records-of-runs.ts';

/** The runs, and the revisions of workspace files that they read. */
export interface MemoryRuns extends RunStore {
  /** Returns the `filesRevision` of each run of a place that has one. */
  filesRevisions(place: WorkspacePlace): readonly number[];
  /** Whether a caller reaches a run. */
  reaches(tenancy: Tenancy, runId: string): boolean;
}

/** @param belongings the stores with records of runs */
export function runStore(
  journal: Journal,
  belongings: readonly RecordsOfRuns[],
  passedOver: PassedOver = new PassedOver(),
): MemoryRuns {
  const runs = new Map<string, Run>();

  /** Returns all runs in their present form. The stored records keep the form in which they were written. */
  function stored(): Run[] {
    return passedOver.all(RUNS, [...runs.values()]);
  }

  function storedOf(runId: string): Run | undefined {
    const run = runs.get(runId);
    return run && passedOver.reported(() => asRead(run));
  }

  function read(tenancy: Tenancy, runId: string): Lookup<Run> {
    const run = storedOf(runId);
    if (run === undefined || run.tenant !== tenancy.tenant || run.mode !== tenancy.mode) return ABSENT;
    return reachesWorkspace(tenancy, run.workspace) ? { kind: 'found', value: run } : OTHER_WORKSPACE;
  }

  function isOpen(runId: string | undefined): boolean {
    const run = runId === undefined ? undefined : runs.get(runId);
    return run !== undefined && !isTerminal(run.status);
  }

  return {
    async insert(run, transaction) {
      if (runs.has(run.runId)) throw new Error(`Run ${run.runId}: the id is taken.`);
      put(journal, transaction, runs, run.runId, run);
    },
    read: async (tenancy, runId) => read(tenancy, runId),
    readForChange: async (tenancy, runId) => read(tenancy, runId),
    async list(tenancy, { before, limit }) {
      const found = stored().filter(
        ({ runId }) => (before === undefined || runId < before) && read(tenancy, runId).kind === 'found',
      );
      return found.sort((a, b) => (a.runId < b.runId ? 1 : -1)).slice(0, limit);
    },
    async ofConversation(tenancy, conversation, limit) {
      const found = stored().filter(
        (run) => run.conversation === conversation && read(tenancy, run.runId).kind === 'found',
      );
      return found.sort((a, b) => (a.runId < b.runId ? 1 : -1)).slice(0, limit);
    },
    async forAppend(runIds) {
      return runIds.flatMap((runId) => storedOf(runId) ?? []);
    },
    async activeIn({ tenant, workspace, mode, scopeId }) {
      return stored().find(
        (run) =>
          run.scopeId === scopeId &&
          run.tenant === tenant &&
          run.workspace === workspace &&
          run.mode === mode &&
          !isTerminal(run.status),
      );
    },
    async lastSequences(runIds) {
      return runIds.flatMap((runId) => {
        const run = runs.get(runId);
        return run === undefined ? [] : [[runId, run.lastSequence] as const];
      });
    },
    async update(changed, transaction) {
      for (const run of changed) {
        if (runs.has(run.runId)) put(journal, transaction, runs, run.runId, run);
      }
    },
    removeEnded: ({ endedBefore, limit }) =>
      journal.transaction(async (transaction) => {
        const all = stored();
        const read = new Set(all.flatMap(({ fork, status }) => (fork && !isTerminal(status) ? fork.sourceRunId : [])));
        const ended = all
          .filter(({ status, completedAt }) => isTerminal(status) && (completedAt ?? endedBefore) < endedBefore)
          .filter(({ runId }) => !read.has(runId))
          .filter(({ parent }) => !isOpen(parent?.runId))
          .sort((a, b) => (a.completedAt ?? 0) - (b.completedAt ?? 0))
          .slice(0, limit);
        for (const run of ended) {
          put(journal, transaction, runs, run.runId, undefined);
          for (const { drop } of belongings) drop(run, transaction);
        }
        return ended.length;
      }),
    // The records of a run are removed with it.
    sweep: async () => 0,
    reaches: (tenancy, runId) => read(tenancy, runId).kind === 'found',
    filesRevisions: ({ tenant, workspace, mode }) =>
      [...runs.values()].flatMap((run) => {
        const isThere = run.tenant === tenant && run.workspace === workspace && run.mode === mode;
        return isThere && run.filesRevision !== undefined ? [run.filesRevision] : [];
      }),
    claim: async (run) => run,
    async unfinished({ after = '', limit }) {
      const open = stored().filter((run) => run.runId > after && isExecutable(run.status));
      return open.sort((a, b) => (a.runId < b.runId ? -1 : 1)).slice(0, limit);
    },
    ...familiesOf(stored),
    async toStop(runIds) {
      return runIds.flatMap((runId) => {
        const run = storedOf(runId);
        if (run === undefined) return [];
        const isPlain = (run.status === 'pending' || run.status === 'running') && run.pauseRequest === undefined;
        return isPlain ? [] : [run];
      });
    },
  };
}

const RUNS: RecordReader<Run, Run> = { kind: 'run', idOf: ({ runId }) => runId, read: asRead };

/** Returns the same object, unless a host of major 1 wrote its versions in another form. */
function asRead(run: Run): Run {
  const { engineVersion, eventLogSchemaVersion } = run;
  const isOfToday = typeof engineVersion === 'number' && typeof eventLogSchemaVersion === 'number';
  return isOfToday ? run : runAsStored(run);
}
