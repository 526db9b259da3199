import { childKey } from '../interrupts/child-question.ts';
import { settle } from '../interrupts/resolve.ts';
import type { RunEvent } from '../ports/events.ts';
import { describeError, type Log } from '../ports/log.ts';
import { type ChildPage, isExecutable, isTerminal, isWaiting, type Run } from '../ports/runs.ts';
import { UnreadableRecord } from '../ports/unreadable-record.ts';
import type { RunServices } from '../runs/change-run.ts';
import { cancelledEvents } from '../runs/host-events.ts';
import { isTerminalEvent } from '../runs/transitions.ts';

/**
 * Keeps parents and children in step: the end of a child resumes the parent that waits for it, and the end or the
 * cancel of a parent cancels its children. The stored runs alone tell what is to be done, so a killed host loses none.
 */
export interface RunFamilies {
  /** Notes that a run has a parent or children, so that `heard` acts on its end. */
  note(...runIds: readonly string[]): void;
  /** Acts on the end of a run that this host has recorded, after its commit. */
  onAppended(event: RunEvent): void;
  /** Acts on the present state of a run, its parent and its children. Never rejects. */
  check(runId: string): Promise<void>;
  /** Acts on the runs of all hosts. A periodic task: it finds the runs of a killed host. */
  sweep(signal: AbortSignal): Promise<void>;
  /** Waits for the checks that are under way, and begins no other. */
  stop(): Promise<void>;
}

export interface RunFamiliesOptions {
  readonly log: Log;
  /** The services of runs, which exist after the families. */
  readonly services: () => Pick<RunServices, 'store' | 'clock' | 'events' | 'executor'>;
}

/** Makes the families of the runs of a host. */
export function runFamilies(options: RunFamiliesOptions): RunFamilies {
  const members = new Set<string>();
  const underWay = new Set<Promise<void>>();
  const stopping = new AbortController();

  const families: RunFamilies = {
    note(...runIds) {
      for (const runId of runIds) members.add(runId);
      // A run that ends on another host is never heard.
      for (const runId of members) if (members.size > MOST_MEMBERS) members.delete(runId);
    },
    onAppended({ runId, type }) {
      if (isTerminalEvent(type) && members.delete(runId)) void families.check(runId);
    },
    check(runId) {
      if (stopping.signal.aborted) return Promise.resolve();
      const check = settleAll(options, runId, stopping.signal)
        .catch((error: unknown) => {
          options.log({ level: 'error', event: 'run.family-late', runId, ...describeError(error) });
        })
        .finally(() => underWay.delete(check));
      underWay.add(check);
      return check;
    },
    sweep: (signal) => settleAll(options, undefined, signal),
    async stop() {
      stopping.abort();
      await Promise.all(underWay);
    },
  };
  return families;
}

/** The others are found by the sweep. */
const MOST_MEMBERS = 10_000;

/** @param of a run; undefined: all */
async function settleAll(options: RunFamiliesOptions, of: string | undefined, signal: AbortSignal): Promise<void> {
  const { store } = options.services();
  await eachOf(
    (page) => store.runs.awaited(page),
    of,
    signal,
    (child) => wake(options, child),
  );
  await eachOf(
    (page) => store.runs.orphans(page),
    of,
    signal,
    (child) => cancelChild(options, child),
  );
}

/** Acts on every run of a list. One that fails does not stop the others. */
async function eachOf(
  list: (page: ChildPage) => Promise<readonly Run[]>,
  of: string | undefined,
  signal: AbortSignal,
  act: (run: Run) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  let after: string | undefined;
  do {
    const page = await list({ after, limit: PAGE, of });
    for (const run of page) {
      if (signal.aborted) return;
      // The store has reported a parent that it cannot read.
      await act(run).catch((error: unknown) => {
        if (!(error instanceof UnreadableRecord)) failures.push(error);
      });
    }
    after = page.length < PAGE ? undefined : page.at(-1)?.runId;
  } while (after !== undefined);
  if (failures.length > 0) throw failures[0];
}

const PAGE = 100;

/** Resumes the parent of an ended child on this host. */
async function wake({ services }: RunFamiliesOptions, child: Run): Promise<void> {
  const { store, clock, events, executor } = services();
  const { parent, runId, status } = child;
  if (parent === undefined) return;
  const woken = await events.change(events.hosted(parent.runId), async (open) => {
    // Since the child was found, another host may have resumed the parent.
    const question = await store.interrupts.byKey(parent.runId, parent.nodeId, childKey(runId), open.transaction);
    if (question?.status !== 'pending' || !isWaiting(open.run.status)) return undefined;
    await settle({ store }, open, question, { resumeValue: { status }, at: clock.now() });
    return open.run;
  });
  if (woken !== undefined) executor.onRequest(woken);
}

/**
 * Cancels a child of a run that has ended or is being cancelled.
 *
 * @see Interface: Cancel, the reason `parent-cancelled`
 */
async function cancelChild({ services }: RunFamiliesOptions, { runId, tenant, mode, parent }: Run): Promise<void> {
  const { store, clock, events, executor } = services();
  if (parent === undefined) return;
  const above = await store.runs.read({ tenant, mode, workspaces: 'all' }, parent.runId);
  const isCancel = above.kind === 'found' && above.value.cancelRequest !== undefined;
  const reason = isCancel ? 'parent-cancelled' : 'parent-ended';
  const changed = await events.change(events.hosted(runId), async (open) => {
    const { status } = open.run;
    if (isTerminal(status) || status === 'cancelling') return undefined;
    const at = clock.now();
    open.signal('cancel-requested', { cancelRequest: { reason, parentRunId: parent.runId, at } });
    if (!isExecutable(status)) await open.append(...cancelledEvents(open.run, at));
    return open.run;
  });
  if (changed === undefined) return;
  executor.onRequest(changed);
}
