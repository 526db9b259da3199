import { AuthError, type Principal } from '@svc/auth';
import { HostError } from '../errors.ts';
import type { Executor } from '../execution/executor.ts';
import { openQuestion } from '../interrupts/open-question.ts';
import { type InterruptAddress, resolveInterrupt } from '../interrupts/resolve.ts';
import { Unanswerable } from '../interrupts/unanswerable.ts';
import { ABSENT } from '../lookup.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Interrupt } from '../ports/interrupts.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import { cancelRun } from '../runs/cancel.ts';
import { conflict, type RunServices } from '../runs/change-run.ts';
import { type CreateRunOptions, createRun } from '../runs/create.ts';
import { foundRun, isWithinReach } from '../runs/find-run.ts';
import { listRuns, type RunQuery } from '../runs/list.ts';
import { type PollParts, poll } from '../streams/poll.ts';
import type { TellUnheard } from '../webhooks/unheard-runs.ts';
import { interruptBody } from '../wire/interrupt.ts';
import type { CallerRuns, MountCaller } from './caller-runs.ts';

/** The ports and services of {@link hostRuns}. */
export interface HostRunsOptions extends CreateRunOptions, RunServices {
  readonly streams: PollParts;
  readonly executor: Pick<Executor, 'execute' | 'onRequest'>;
  readonly tellUnheard: TellUnheard;
}

/** The operations on the runs of a host, for its mounts. */
export function hostRuns(options: HostRunsOptions): CallerRuns {
  const { store, executor } = options;
  return {
    async create(caller, request, save) {
      const principal = await caller.permit('runs:create');
      requireOwners(options, principal);
      const run = await createRun(options, principal, request, save);
      await options.tellUnheard(run);
      executor.execute(run);
      return run;
    },
    read: (caller, runId) => read(store, caller, runId),
    async list(caller, query) {
      const principal = await caller.permit('runs:read');
      return listRuns(store.runs, principal.tenancy, { ...query, also: ownedBy(principal, query.also) });
    },
    async ofConversation(caller, conversation, limit) {
      const principal = await caller.permit('runs:read');
      const found = await store.runs.ofConversation(principal.tenancy, conversation, limit);
      return found.filter((run) => isWithinReach(principal, run));
    },
    async cancel(caller, runId) {
      const principal = await caller.permit('runs:cancel');
      await readOwn(store, principal, runId);
      const { run, hadEnded } = await cancelRun(options, principal, runId, { reason: undefined });
      if (hadEnded) throw conflict(run, 'cancelled');
      return run;
    },
    async respond(caller, runId, resumeValue, question) {
      const { currentNodeId = '' } = await read(store, caller, runId);
      const principal = await caller.permit('approvals:respond');
      const address = question ? await addressOf(store, runId, question) : { runId, nodeId: currentNodeId };
      const { run } = await resolveInterrupt(options, principal, address, resumeValue).catch(asHostError);
      return run;
    },
    async last(run) {
      const [event] = await store.events.list(run, { after: run.lastSequence - 1, limit: 1 });
      return event;
    },
    async question(run) {
      const interrupt = await openQuestion(store, run);
      return interrupt && interruptBody(2, interrupt);
    },
    follow: (caller, run, after, signal) => follow(options, caller, run, after, signal),
    settled: (caller, run, waitMs, gone, heard) => settled(options, caller, run, { waitMs, gone, heard }),
    async artifacts(caller, run) {
      const reader = await caller.permit('artifacts:read').catch((error: unknown) => {
        // A caller without the scope can still read the task of the run: it gets no artifacts instead of an error.
        if (AuthError.is(error)) return undefined;
        throw error;
      });
      const found = reader && (await store.runs.read(reader.tenancy, run.runId));
      return found?.kind === 'found' ? await store.artifacts.list(found.value, MOST_ARTIFACTS) : [];
    },
  };
}

const MOST_ARTIFACTS = 100;

async function read(store: Store, caller: MountCaller, runId: string): Promise<Run> {
  return readOwn(store, await caller.permit('runs:read'), runId);
}

async function readOwn(store: Store, principal: Principal, runId: string): Promise<Run> {
  const lookup = await store.runs.read(principal.tenancy, runId);
  const isOutOfReach = lookup.kind !== 'found' || !isWithinReach(principal, lookup.value);
  // To an anonymous caller every other run is absent, those of other workspaces included.
  if (principal.kind === 'anonymous' && isOutOfReach) return foundRun(ABSENT);
  return foundRun(lookup);
}

function ownedBy(principal: Principal, also: RunQuery['also']): RunQuery['also'] {
  if (principal.kind !== 'anonymous') return also;
  return (run) => isWithinReach(principal, run) && (also === undefined || also(run));
}

/** The owner of a run is what keeps anonymous sessions apart, so a run without one must not be created for them. */
function requireOwners({ singleTenant = false }: HostRunsOptions, { kind }: Principal): void {
  if (kind !== 'anonymous' || !singleTenant) return;
  const message = 'A single-tenant host cannot serve anonymous callers. Use a credential.';
  throw new HostError('forbidden', message, { details: undefined });
}

/**
 * Polls the log of a run. Judges the credential of the caller again every 30 s, so that a revoked one ends the stream.
 */
async function* follow(
  { store, streams, clock }: HostRunsOptions,
  caller: MountCaller,
  run: Run,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<RunEvent, void, undefined> {
  let judged = await caller.permit('runs:read');
  for (let cursor = after, known = run; !signal.aborted; ) {
    const found = await poll(streams, {
      run: known,
      credentialId: judged.credentialId,
      isAnonymous: judged.kind === 'anonymous',
      after: cursor,
      waitMs: Math.min(JUDGE_EVERY_MS, (judged.expiresAt ?? Number.POSITIVE_INFINITY) - clock.now()),
      gone: () => signal,
      current: () => read(store, caller, run.runId),
    });
    yield* found.events;
    if (found.isComplete) return;
    ({ cursor, run: known } = found);
    if (clock.now() >= (judged.expiresAt ?? Number.POSITIVE_INFINITY)) return;
    const again = await caller.judgeAgain();
    if (again === undefined) return;
    judged = again;
  }
}

const JUDGE_EVERY_MS = 30_000;

async function settled(
  options: HostRunsOptions,
  caller: MountCaller,
  run: Run,
  { waitMs, gone, heard }: { waitMs: number; gone: AbortSignal; heard: ((event: RunEvent) => void) | undefined },
): Promise<Run> {
  const { store, clock } = options;
  const timeout = new AbortController();
  const cancel = clock.after(waitMs, () => timeout.abort());
  try {
    const signal = AbortSignal.any([timeout.signal, gone]);
    for await (const event of follow(options, caller, run, run.lastSequence, signal)) {
      heard?.(event);
      if (event.type === 'interrupt.requested') break;
    }
  } catch (error) {
    // Without a place to wait, the caller gets the run as it stands. An error would hide a run that it has just created.
    if (!AuthError.is(error) || error.code !== 'rate_limited') throw error;
  } finally {
    cancel();
  }
  return read(store, caller, run.runId);
}

/** @throws {HostError} `interrupt_already_resolved` when the node never asked the question */
async function addressOf(
  { interrupts, transaction }: Store,
  runId: string,
  { nodeId, key }: Pick<Interrupt, 'nodeId' | 'key'>,
): Promise<InterruptAddress> {
  const found = await transaction((open) => interrupts.byKey(runId, nodeId, key, open));
  if (found === undefined) return asHostError(new Unanswerable('not-found'));
  return { runId, nodeId, interruptId: found.interruptId };
}

function asHostError(error: unknown): never {
  if (!(error instanceof Unanswerable)) throw error;
  throw new HostError('interrupt_already_resolved', 'The run does not wait for an answer.', { details: undefined });
}
