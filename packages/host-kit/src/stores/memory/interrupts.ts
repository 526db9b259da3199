import type { DueCursor, Interrupt, InterruptStore } from '../../ports/interrupts.ts';
import { type Journal, put } from './journal.ts';
import { dropFrom, type RecordsOfRuns } from './records-of-runs.ts';

export function interruptStore(journal: Journal): InterruptStore & RecordsOfRuns {
  const interrupts = new Map<string, Interrupt>();
  const of = (runId: string) => [...interrupts.values()].filter((interrupt) => interrupt.runId === runId);
  const pending = () =>
    [...interrupts.values()].filter(({ status, dueAt }) => status === 'pending' && dueAt !== undefined);

  return {
    drop: dropFrom(journal, interrupts),
    async insert(interrupt, transaction) {
      put(journal, transaction, interrupts, placeOf(interrupt), interrupt);
    },
    async update(interrupt, transaction) {
      put(journal, transaction, interrupts, placeOf(interrupt), interrupt);
    },
    async byId(runId, interruptId) {
      return interrupts.get(placeOf({ runId, interruptId }));
    },
    async byKey(runId, nodeId, key) {
      return of(runId).find((interrupt) => interrupt.nodeId === nodeId && interrupt.key === key);
    },
    async ofNode(runId, nodeId) {
      const asked = of(runId).filter((interrupt) => interrupt.nodeId === nodeId);
      return asked.sort((a, b) => (a.interruptId < b.interruptId ? -1 : 1)).at(-1);
    },
    async pendingOf(runId) {
      return of(runId).filter(({ status }) => status === 'pending');
    },
    async due(now, limit, after) {
      const due = pending().filter(({ dueAt = 0 }) => dueAt <= now);
      const left = after === undefined ? due : due.filter((interrupt) => byDueTime(interrupt, after) > 0);
      return left.sort(byDueTime).slice(0, limit);
    },
  };
}

function byDueTime(a: Interrupt, b: Interrupt | DueCursor): number {
  const [left, right] = [a.dueAt ?? 0, b.dueAt ?? 0];
  if (left !== right) return left - right;
  if (a.runId !== b.runId) return a.runId < b.runId ? -1 : 1;
  if (a.interruptId === b.interruptId) return 0;
  return a.interruptId < b.interruptId ? -1 : 1;
}

function placeOf({ runId, interruptId }: Pick<Interrupt, 'runId' | 'interruptId'>): string {
  return `${runId}/${interruptId}`;
}
