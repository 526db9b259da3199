import { reachesWorkspace, type Tenancy } from '@svc/auth';
import { ABSENT, type Lookup, OTHER_WORKSPACE } from '../../lookup.ts';
import type { Run } from '../../runs/run.ts';
import type { RunStore } from '../../runs/run-store.ts';
import { isExecutable, isTerminal } from '../../runs/transitions.ts';
import { type Journal, put } from './journal.ts';

export function runStore(journal: Journal): RunStore {
  const runs = new Map<string, Run>();

  function read(tenancy: Tenancy, runId: string): Lookup<Run> {
    const run = runs.get(runId);
    if (run === undefined || run.tenant !== tenancy.tenant || run.mode !== tenancy.mode) return ABSENT;
    return reachesWorkspace(tenancy, run.workspace) ? { kind: 'found', value: run } : OTHER_WORKSPACE;
  }

  return {
    async insert(run, transaction) {
      if (runs.has(run.runId)) throw new Error('A run with this id exists.');
      put(journal, transaction, runs, run.runId, run);
    },
    read: async (tenancy, runId) => read(tenancy, runId),
    readForChange: async (tenancy, runId) => read(tenancy, runId),
    async list(tenancy, { before, limit }) {
      const found = [...runs.values()].filter(
        ({ runId }) => (before === undefined || runId < before) && read(tenancy, runId).kind === 'found',
      );
      return found.sort((a, b) => (a.runId < b.runId ? 1 : -1)).slice(0, limit);
    },
    async forAppend(runId) {
      return runs.get(runId);
    },
    async activeIn({ tenant, workspace, mode, scopeId }) {
      return [...runs.values()].find(
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
    async update(run, transaction) {
      if (runs.has(run.runId)) put(journal, transaction, runs, run.runId, run);
    },
    claim: async (run) => run,
    async unfinished({ after = '', limit }) {
      const open = [...runs.values()].filter((run) => run.runId > after && isExecutable(run.status));
      return open.sort((a, b) => (a.runId < b.runId ? -1 : 1)).slice(0, limit);
    },
    async disturbed(runIds) {
      return runIds.flatMap((runId) => {
        const run = runs.get(runId);
        if (run === undefined) return [];
        const isPlain = (run.status === 'pending' || run.status === 'running') && run.pauseRequest === undefined;
        return isPlain ? [] : [run];
      });
    },
  };
}
