import { reachesWorkspace } from '@svc/auth';
import { ABSENT, OTHER_WORKSPACE } from '../../lookup.ts';
import { isTerminal, type Run } from '../../runs/run.ts';
import type { RunStore } from '../../runs/run-store.ts';
import { type Journal, put } from './journal.ts';

export function runStore(journal: Journal): RunStore {
  const runs = new Map<string, Run>();

  return {
    async insert(run, transaction) {
      if (runs.has(run.runId)) throw new Error('A run with this id exists.');
      put(journal, transaction, runs, run.runId, run);
    },
    async read(tenancy, runId) {
      const run = runs.get(runId);
      if (run === undefined || run.tenant !== tenancy.tenant || run.mode !== tenancy.mode) return ABSENT;
      return reachesWorkspace(tenancy, run.workspace) ? { kind: 'found', value: run } : OTHER_WORKSPACE;
    },
    async forAppend(runId) {
      return runs.get(runId);
    },
    async update(runId, change, transaction) {
      const run = runs.get(runId);
      if (run !== undefined) put(journal, transaction, runs, runId, { ...run, ...change });
    },
    async lastSequences(runIds) {
      return runIds.flatMap((runId) => {
        const run = runs.get(runId);
        return run === undefined ? [] : [[runId, run.lastSequence] as const];
      });
    },
    async unfinished({ after = '', limit }) {
      const open = [...runs.values()].filter((run) => run.runId > after && !isTerminal(run.status));
      return open.sort((a, b) => (a.runId < b.runId ? -1 : 1)).slice(0, limit);
    },
  };
}
