import { isJsonObject, type JsonObject } from '../../json.ts';
import { type OptionNames, requireKnown } from '../../known-options.ts';
import { ChildRefused, type ChildRequest } from '../../ports/child-runs.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Execution, RunOutcome } from '../../ports/engine.ts';
import { noteFailedStep } from '../../ports/failed-step.ts';
import type { InterruptAnswer } from '../../ports/interrupts.ts';
import { describeError } from '../../ports/log.ts';
import type { Run } from '../../ports/runs.ts';
import { ChildFailure } from './child-failure.ts';
import type { ChildWorkflow } from './child-workflow.ts';
import { type Compensation, Compensations, compensationNode, MOST_COMPENSABLE_NAME } from './compensations.ts';
import type { Journal, StepRecord } from './journal.ts';
import { delayAfter, type Retries, retriesOf } from './retry.ts';
import { StepEvents } from './step-events.ts';
import { failureOf, StepFailure } from './step-failure.ts';
import { COMPENSABLE, compensating, PLAIN, type StepKind } from './step-kind.ts';
import { answerOf, inputsOf, outputsOf, resultOf } from './step-outputs.ts';
import type { AwaitedEvent, ChildOptions, StepContext, StepOptions, Steps, StepsQuestion } from './steps.ts';
import type { Stored } from './stored.ts';
import { MISMATCH, VisitedSteps } from './visited-steps.ts';
import { Waits } from './waits.ts';
import { WorkUnderWay } from './work-under-way.ts';

/** Means of a turn beside the execution. */
export interface TurnMeans {
  readonly onError: ((error: unknown, failed: { readonly runId: string; readonly step: string }) => void) | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

/** The steps of one call of `execute`. A step that the journal records as ended returns its outcome, and is not done again. */
export class TurnOfSteps {
  /** The building blocks that the workflow gets. They do not use `this`. */
  readonly steps: Steps = {
    step: <T>(name: string, work: (context: StepContext) => Promise<T> | T, options?: StepOptions<Stored<T>>) =>
      this.#noted(this.#step(name, work, options)),
    sleep: (name, ms) => this.#waits.awaited('sleep', name, this.#noted(this.#sleep(name, ms))),
    ask: (name, question) => this.#waits.awaited('ask', name, this.#noted(this.#ask(name, 'steps.question', question))),
    waitForEvent: (name, event) =>
      this.#waits.awaited('waitForEvent', name, this.#noted(this.#waitForEvent(name, event))),
    patched: (name) => this.#noted(this.#patched(name)),
    child: <T>(name: string, of: ChildWorkflow | string, inputs: unknown, options?: ChildOptions<T>) =>
      this.#waits.awaited('child', name, this.#noted(this.#child(name, of, inputs, options))),
  };
  readonly #run: Run;
  readonly #execution: Execution;
  readonly #journal: Journal;
  readonly #means: TurnMeans;
  readonly #events: StepEvents;
  readonly #visited: VisitedSteps;
  readonly #underWay = new WorkUnderWay();
  readonly #waits = new Waits();
  /** The compensations of the steps that have completed. */
  readonly #compensations = new Compensations();
  /** Told when the workflow comes to the place at which it failed. */
  #stalled = (): void => {};
  #hasFailed = false;
  /** Failures whose cause the author of the workflow did not foresee. */
  readonly #unexpected = new WeakSet<StepFailure>();

  constructor(run: Run, execution: Execution, journal: Journal, means: TurnMeans) {
    this.#run = run;
    this.#execution = execution;
    this.#journal = journal;
    this.#means = means;
    this.#events = new StepEvents(execution, journal, means.clock);
    this.#visited = new VisitedSteps(journal);
  }

  /** Resolves when no work is under way. */
  settled(): Promise<void> {
    return this.#underWay.settled();
  }

  /** Notes that the workflow has ended. */
  end(): void {
    this.#underWay.end();
  }

  /** Whether a step has failed in this turn. The workflow may have awaited it, and caught its error. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** A wait that the workflow started and nothing awaits, for example an approval that it would skip. */
  get forgotten(): TypeError | undefined {
    return this.#waits.forgotten;
  }

  /** Whether a failure comes from another error than a `StepFailure`, in this turn. */
  isUnexpected(failure: StepFailure): boolean {
    return this.#unexpected.has(failure);
  }

  /** The failure of a run whose log has steps that its workflow did not come to. */
  async mismatch(): Promise<RunOutcome | undefined> {
    const left = await this.#visited.leftOut();
    if (left === undefined) return undefined;
    const message = `The workflow ended without the step ${left}, which its run has recorded. Its code has changed.`;
    return { status: 'failed', error: failureOf(new StepFailure(MISMATCH, message)), failedNodeId: left };
  }

  /** Passes the outcome of a step on, and notes whether one has failed. */
  async #noted<T>(outcome: Promise<T>): Promise<T> {
    try {
      return await outcome;
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  }

  async #step<T>(
    name: string,
    work: (context: StepContext) => Promise<T> | T,
    options: StepOptions<Stored<T>> = {},
  ): Promise<Stored<T>> {
    requireKnown(`step ${name}`, options, STEP_OPTIONS);
    if (typeof work !== 'function') throw new TypeError(`step ${name}: its work must be a function. ${WORK}`);
    const { retry, compensate } = options;
    const retries = retriesOf(name, retry);
    requireCompensable(name, compensate);
    const record = this.#visited.enter(name, 'steps.step');
    const ended = await this.#outcome(name, record);
    const kind = compensate === undefined ? PLAIN : COMPENSABLE;
    const { result } = ended ?? (await this.#underWay.track(this.#attempts(name, record, retries, work, kind)));
    const stored = result as Stored<T>;
    this.#declare(name, record, retries, compensate && ((context) => compensate(stored, context)));
    return stored;
  }

  /** Notes how a completed step is undone. */
  #declare(
    name: string,
    record: StepRecord | undefined,
    retries: Retries,
    undo: ((context: StepContext) => unknown) | undefined,
  ): void {
    if (undo === undefined) return;
    const order = record?.endedAt ?? this.#events.endOf(name) ?? this.#visited.size;
    this.#compensations.declare({ name, order, retries, undo });
  }

  /** The failure after which an earlier turn began to compensate. */
  get failure(): StepFailure | undefined {
    const { failure } = this.#journal;
    if (failure === undefined) return undefined;
    const { code, message, retryable } = failure.error;
    return new StepFailure(code, message, { retryable, ...(failure.step !== undefined && { step: failure.step }) });
  }

  /**
   * Runs a workflow that has failed before, up to the place at which it did: its steps declare how they are undone, and do
   * nothing.
   */
  async revisit(workflow: () => Promise<unknown>): Promise<void> {
    const steps = this.#journal.failure?.steps ?? [];
    const atEnd = new Promise<void>((resolve) => {
      this.#stalled = () => setImmediate(resolve);
    });
    const over = workflow().then(
      () => {},
      () => {},
    );
    await Promise.race([this.#compensations.whole(steps), atEnd, over]);
  }

  /** Undoes the completed steps of a failed workflow, the last one first. A compensation that fails is recorded, and passed over. */
  async compensate(failure: StepFailure): Promise<void> {
    // The last steps to end declare their compensations.
    await new Promise((resolve) => setImmediate(resolve));
    const steps = this.#journal.failure?.steps ?? this.#compensations.inReverse();
    if (steps.length === 0) return;
    if (this.#journal.failure === undefined) {
      const { step } = failure;
      const failed = { error: { ...failureOf(failure) }, ...(step !== undefined && { failedNodeId: step }) };
      await this.#execution.append({ type: 'compensation.requested', payload: { ...failed, nodes: [...steps] } });
    }
    for (const step of steps) {
      const compensation = this.#compensations.of(step);
      // A later release of the workflow no longer undoes it. The host records that a person has to.
      if (compensation !== undefined) await this.#compensateStep(compensation);
    }
  }

  async #compensateStep({ name, retries, undo }: Compensation): Promise<void> {
    const node = compensationNode(name);
    const record = this.#journal.steps.get(node);
    try {
      if (record?.outcome !== undefined || (await this.#execution.replayed?.(node)) !== undefined) return;
      const work = async (context: StepContext) => {
        await undo(context);
      };
      await this.#attempts(node, record, retries, work, { typeId: 'steps.compensation', undoes: name });
    } catch (error) {
      this.#execution.signal.throwIfAborted();
      if (!(error instanceof StepFailure)) throw error;
    }
  }

  async #attempts(
    name: string,
    record: StepRecord | undefined,
    retries: Retries,
    work: (context: StepContext) => unknown,
    kind: StepKind,
  ): Promise<JsonObject> {
    const { append, until, signal } = this.#execution;
    let failed = record?.retries ?? 0;
    let starts = record?.starts ?? 0;
    let retry = record?.retry;
    for (;;) {
      if (retry !== undefined) await until(this.#events.due(retry.failedAt, retry.delayMs));
      const attempt = starts++;
      const started = { nodeId: name, typeId: kind.typeId, attempt };
      const beside = compensating('compensation.started', name, kind, { attempt });
      await append(...beside, { type: 'node.started', nodeId: name, payload: started });
      try {
        const context = this.#context(name, record, attempt);
        const outputs = resultOf(name, await this.#visited.within(name, () => work(context)));
        return await this.#events.complete(name, outputs, kind);
      } catch (error) {
        signal.throwIfAborted();
        failed += 1;
        const failure = this.#failureOf(name, error);
        if (error instanceof StepFailure || failed >= retries.maxAttempts)
          throw await this.#events.fail(name, failure, failed, kind);
        const delayMs = delayAfter(failed, retries);
        const lastError = { ...failureOf(failure) };
        const payload = { nodeId: name, attempt: starts, delayMs, lastError };
        const [retried] = await append({ type: 'node.retried', nodeId: name, payload });
        retry = { failedAt: retried?.timestamp ?? this.#means.clock.now(), delayMs };
      }
    }
  }

  #context(name: string, record: StepRecord | undefined, attempt: number): StepContext {
    const { append, artifact, effect, fetch, files, secret, signal } = this.#execution;
    return {
      ...{ attempt, signal, fetch, secret, files, artifacts: record?.artifacts ?? [] },
      artifact: async (made) => (await artifact({ nodeId: name, ...made })).artifactId,
      log: async (message) => {
        await append({ type: 'log.appended', nodeId: name, payload: { nodeId: name, level: 'info', message } });
      },
      effect: (request, perform) => effect({ nodeId: name, ...request }, perform),
    };
  }

  async #sleep(name: string, ms: number): Promise<void> {
    if (!Number.isInteger(ms) || ms < 0 || ms > LONGEST_SLEEP_MS) {
      throw new TypeError(`sleep ${name}: ms must be a whole number from 0 to ${LONGEST_SLEEP_MS}.`);
    }
    const record = this.#visited.enter(name, 'steps.sleep');
    if ((await this.#outcome(name, record)) !== undefined) return;
    const { timestamp } = await this.#events.begin(name, 'steps.sleep', record);
    await this.#execution.until(this.#events.due(timestamp, ms));
    await this.#events.complete(name, {});
  }

  async #ask(name: string, typeId: string, question: StepsQuestion): Promise<InterruptAnswer> {
    const record = this.#visited.enter(name, typeId);
    const ended = await this.#outcome(name, record);
    if (ended !== undefined) return answerOf(ended);
    await this.#events.begin(name, typeId, record);
    await this.#underWay.rest();
    const answer = await this.#execution.interrupt({ ...question, nodeId: name, key: 'answer' });
    return answerOf(await this.#events.complete(name, { ...answer }));
  }

  async #waitForEvent(name: string, event: AwaitedEvent) {
    requireKnown(`waitForEvent ${name}`, event, EVENT_PARTS);
    const { eventType, correlation = {}, timeoutMs } = event;
    const { isTimeout, resumeValue } = await this.#ask(name, 'steps.event', {
      ...{ kind: 'external-event', data: { eventType, correlation }, resumeSchema: { type: 'object' } },
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    return isTimeout || !isJsonObject(resumeValue) ? undefined : resumeValue;
  }

  async #child<T>(
    name: string,
    of: ChildWorkflow | string,
    inputs: unknown,
    options: ChildOptions<T> = {},
  ): Promise<T> {
    requireKnown(`child ${name}`, options, CHILD_OPTIONS);
    const { compensate, ...asked } = options;
    requireCompensable(name, compensate);
    const record = this.#visited.enter(name, 'steps.child');
    const ended = await this.#outcome(name, record);
    const workflowId = typeof of === 'string' ? of : of.id;
    const request = { ...asked, nodeId: name, workflowId, inputs: inputsOf(name, inputs) };
    const kind = compensate === undefined ? PLAIN : COMPENSABLE;
    const { result } = ended ?? (await this.#childOutputs(name, record, request, kind));
    const stored = result as T;
    this.#declare(name, record, retriesOf(name, undefined), compensate && ((context) => compensate(stored, context)));
    return stored;
  }

  async #childOutputs(name: string, record: StepRecord | undefined, request: ChildRequest, kind: StepKind) {
    await this.#underWay.track(this.#startChild(name, record, request));
    await this.#underWay.rest();
    const outcome = await this.#execution.awaitChild(name);
    if (outcome.status === 'completed') return await this.#events.complete(name, { result: outcome.outputs }, kind);
    const { status } = outcome;
    const { code, message, retryable = false } = status === 'cancelled' ? CHILD_CANCELLED : outcome.error;
    throw await this.#events.fail(name, new ChildFailure(status, { code, message, retryable, step: name }), 1);
  }

  async #startChild(name: string, record: StepRecord | undefined, request: ChildRequest): Promise<void> {
    const { eventId: causationId } = await this.#events.begin(name, 'steps.child', record);
    try {
      await this.#execution.startChild({ ...request, ...(causationId !== undefined && { causationId }) });
    } catch (error) {
      if (!(error instanceof ChildRefused)) throw error;
      throw await this.#events.fail(name, new StepFailure(error.code, error.message, { step: name }), 1);
    }
  }

  async #patched(name: string): Promise<boolean> {
    const record = this.#visited.enter(name, 'steps.patch');
    const { replayed } = this.#execution;
    if (record?.outcome !== undefined) return record.outcome.status === 'completed';
    if (record === undefined && this.#isRevisit() && this.#visited.unvisited() !== undefined) return false;
    // The source of a replay has the patch, or went on without it.
    if (replayed !== undefined) return (await replayed(name)).status === 'completed';
    if (this.#isRevisit()) return this.#wait();
    // The run has gone on from here without the patch.
    if (record === undefined && this.#visited.unvisited() !== undefined) return false;
    await this.#events.begin(name, 'steps.patch', record);
    await this.#events.complete(name, {});
    return true;
  }

  /** Whether the workflow failed in an earlier turn, so that it does nothing more. */
  #isRevisit(): boolean {
    return this.#journal.failure !== undefined;
  }

  /** Waits at the place at which the workflow failed. */
  #wait(): Promise<never> {
    this.#stalled();
    return new Promise(() => {});
  }

  /** The recorded outputs of a step; undefined when it has not ended. */
  async #outcome(name: string, record: StepRecord | undefined): Promise<JsonObject | undefined> {
    const { replayed } = this.#execution;
    if (record?.outcome !== undefined) return outputsOf(name, record.outcome);
    if (this.#isRevisit()) return this.#wait();
    return replayed && outputsOf(name, await replayed(name));
  }

  #failureOf(name: string, error: unknown): StepFailure {
    if (error instanceof StepFailure) {
      const { code, message, retryable, cause } = error;
      return new StepFailure(code, message, { retryable, cause, step: name });
    }
    try {
      this.#means.onError?.(error, { runId: this.#run.runId, step: name });
    } catch {
      // An observer changes no outcome.
    }
    // A step may throw what is no Error. The log has its type, and the step.
    const cause = error instanceof Error ? error : new Error(describeError(error).error);
    const failure = new StepFailure('internal_error', 'The step failed.', { cause, step: name });
    for (const each of [cause, failure]) noteFailedStep(each, name);
    this.#unexpected.add(failure);
    return failure;
  }
}

function requireCompensable(name: string, compensate: unknown): void {
  if (compensate === undefined || (typeof compensate === 'function' && name.length <= MOST_COMPENSABLE_NAME)) return;
  const rule =
    typeof compensate === 'function' ? `its name has at most ${MOST_COMPENSABLE_NAME} characters` : 'it is a function';
  throw new TypeError(`step ${name}: has a compensate, so ${rule}.`);
}

const WORK = 'Pass it uncalled: step(name, () => work()).';
const STEP_OPTIONS = { retry: true, compensate: true } as const satisfies OptionNames<StepOptions>;
const CHILD_OPTIONS = { tags: true, metadata: true, compensate: true } as const satisfies OptionNames<ChildOptions>;
const EVENT_PARTS = {
  eventType: true,
  correlation: true,
  timeoutMs: true,
} as const satisfies OptionNames<AwaitedEvent>;

const LONGEST_SLEEP_MS = 10 * 365 * 86_400_000;

const CHILD_CANCELLED = { code: 'child_cancelled', message: 'The child run was cancelled.', retryable: false };
