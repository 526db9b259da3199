import { type ChildPage, isTerminal, type Run, type RunStore } from '../../ports/runs.ts';

/** @param stored returns all runs */
export function familiesOf(stored: () => readonly Run[]): Pick<RunStore, 'childOf' | 'orphans' | 'awaited'> {
  return {
    childOf: async ({ runId, nodeId }) =>
      stored().find(({ parent }) => parent?.runId === runId && parent.nodeId === nodeId),
    orphans: async (page) =>
      children(page, ({ status }, parent) => {
        const isLost = isTerminal(parent.status) || parent.status === 'cancelling';
        return isLost && !isTerminal(status) && status !== 'cancelling';
      }),
    awaited: async (page) =>
      children(page, (child, { status, currentNodeId }) => {
        const isWaiting = status === 'waiting-external' && currentNodeId === child.parent?.nodeId;
        return isWaiting && isTerminal(child.status);
      }),
  };

  function children({ after = '', limit, of }: ChildPage, isListed: (child: Run, parent: Run) => boolean): Run[] {
    const byId = new Map(stored().map((run) => [run.runId, run]));
    const found = [...byId.values()].filter((run) => {
      const parent = byId.get(run.parent?.runId ?? '');
      const isAsked = of === undefined || run.runId === of || run.parent?.runId === of;
      return parent !== undefined && isAsked && run.runId > after && isListed(run, parent);
    });
    return found.sort((a, b) => (a.runId < b.runId ? -1 : 1)).slice(0, limit);
  }
}
