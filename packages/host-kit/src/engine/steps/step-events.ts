import { isJsonObject, type JsonObject } from '../../json.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Execution } from '../../ports/engine.ts';
import { ChildFailure } from './child-failure.ts';
import type { Journal, StepRecord } from './journal.ts';
import { failureOf, type StepFailure } from './step-failure.ts';
import { compensating, PLAIN } from './step-kind.ts';

/** Records the starts and the ends of the steps of a turn. */
export class StepEvents {
  readonly #append: Execution['append'];
  readonly #journal: Journal;
  readonly #clock: Pick<Clock, 'now'>;
  /** The sequences of the ends that this turn recorded. */
  readonly #ends = new Map<string, number>();

  constructor({ append }: Pick<Execution, 'append'>, journal: Journal, clock: Pick<Clock, 'now'>) {
    this.#append = append;
    this.#journal = journal;
    this.#clock = clock;
  }

  /** Starts a step that goes on after a restart instead of beginning anew. Returns its first start. */
  async begin(
    name: string,
    typeId: string,
    record: StepRecord | undefined,
  ): Promise<{ readonly timestamp: number; readonly eventId: string | undefined }> {
    if (record !== undefined) return { timestamp: record.startedAt, eventId: record.startedBy };
    const payload = { nodeId: name, typeId, attempt: 0 };
    const [started] = await this.#append({ type: 'node.started', nodeId: name, payload });
    return { timestamp: started?.timestamp ?? this.#clock.now(), eventId: started?.eventId };
  }

  /** Records the end of a step. Returns the outputs as they were stored, with secrets redacted. */
  async complete(name: string, outputs: JsonObject, kind = PLAIN): Promise<JsonObject> {
    const payload = { nodeId: name, outputs, ...(kind.isCompensable && { 'x-compensable': true }) };
    const beside = compensating('compensation.completed', name, kind, {});
    const recorded = await this.#append(...beside, { type: 'node.completed', nodeId: name, payload });
    const completed = recorded.at(-1);
    if (completed !== undefined) this.#ends.set(name, completed.sequence);
    const stored = isJsonObject(completed?.payload) ? completed.payload.outputs : undefined;
    return isJsonObject(stored) ? stored : outputs;
  }

  /** Records the failure of a step, and returns it. */
  async fail(name: string, failure: StepFailure, attempts: number, kind = PLAIN): Promise<StepFailure> {
    const details = failure instanceof ChildFailure ? { details: { childStatus: failure.status } } : {};
    const payload = { nodeId: name, error: { ...failureOf(failure), ...details }, attempts };
    const beside = compensating('compensation.failed', name, kind, { error: payload.error, attempts });
    await this.#append(...beside, { type: 'node.failed', nodeId: name, payload });
    return failure;
  }

  /** The sequence of the end of a step that this turn recorded. */
  endOf(name: string): number | undefined {
    return this.#ends.get(name);
  }

  /** The end of a wait. A host whose clock was ahead may have recorded a start that is still to come: it does not prolong it. */
  due(from: number, ms: number): number {
    const begun = Math.min(from, this.#clock.now());
    return begun + ms + this.#journal.pausedSince(begun);
  }
}
