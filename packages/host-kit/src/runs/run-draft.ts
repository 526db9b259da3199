import { mintId } from '@svc/versioning/ids';
import { HostError } from '../errors.ts';
import { held } from '../events/gate.ts';
import type { Clock } from '../ports/clock.ts';
import type { NewEvent } from '../ports/engine.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Random } from '../ports/random.ts';
import { isTerminal, type Run, type RunStatus } from '../ports/runs.ts';
import { afterEvent, afterHistory } from './after-event.ts';
import { interventionBefore } from './compensation.ts';
import { pausedEvent } from './host-events.ts';
import { type RunSignal, statusAfter } from './transitions.ts';

/** A run with changes that are not written yet. */
export interface RunDraft {
  /** The run after all changes of this draft. */
  readonly run: Run;
  /**
   * Appends events in order. Stops after the event that completes a requested pause: the events behind it have not
   * happened.
   *
   * @returns the appended events
   * @throws {TypeError} for an event that the vocabulary does not have, or whose payload breaks a rule of its type
   * @throws {HostError} `run_terminal`, `run_state_conflict`
   */
  append(...events: readonly NewEvent[]): Promise<readonly RunEvent[]>;
  /**
   * Moves the run to its next status without an event.
   *
   * @param stored members of the run to replace
   * @throws {HostError} `run_terminal`, `run_state_conflict`
   */
  signal(signal: RunSignal, stored: Partial<Run>): void;
  /** Replaces the stored run. */
  set(run: Run): void;
}

/** An appended event, and its run after it. */
export interface Appended {
  readonly run: Run;
  readonly event: RunEvent;
}

/** A draft, for the event log that writes it. */
export interface OwnDraft extends RunDraft {
  /** Appended events in order. */
  readonly appended: readonly Appended[];
  /** Appended and copied events in the order of the log. */
  readonly recorded: readonly RunEvent[];
  readonly isChanged: boolean;
  /** True: this draft starts the run. */
  readonly isStarted: boolean;
  /** True: the run ended while a question waited for its answer. */
  readonly isAnswerless: boolean;
  /** Copies an event of another run's log as history: the status stays, and no subscription receives it. */
  copy(event: RunEvent): void;
  /** Returns a function that undoes all later changes. */
  savepoint(): () => void;
}

/** Opens a draft of `found`. The caller writes `recorded` and `run` to the store. */
export function draftOf(found: Run, ports: { readonly clock: Clock; readonly random: Random }): OwnDraft {
  return new Draft(found, ports);
}

class Draft implements OwnDraft {
  run: Run;
  appended: readonly Appended[] = [];
  recorded: readonly RunEvent[] = [];
  isAnswerless = false;
  readonly #found: Run;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(found: Run, { clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.run = found;
    this.#found = found;
    this.#clock = clock;
    this.#random = random;
  }

  get isChanged(): boolean {
    return this.run !== this.#found;
  }

  get isStarted(): boolean {
    return this.#found.status === 'pending' && this.run.status !== 'pending' && !isTerminal(this.run.status);
  }

  async append(...added: readonly NewEvent[]): Promise<readonly RunEvent[]> {
    const taken: RunEvent[] = [];
    for (const event of added) {
      const intervention = interventionBefore(event.type, this.run);
      if (intervention !== undefined) this.#take(intervention);
      taken.push(this.#take(event));
      if (!isDrained(this.run)) continue;
      this.#take(pausedEvent(this.run));
      break;
    }
    return taken;
  }

  copy(event: RunEvent): void {
    const { runId, lastSequence } = this.run;
    const copied = { ...event, eventId: this.#mintEventId(), runId, sequence: lastSequence + 1 };
    this.run = afterHistory(this.run, copied);
    this.recorded = [...this.recorded, copied];
  }

  set(changed: Run): void {
    this.run = changed;
  }

  signal(signal: RunSignal, stored: Partial<Run>): void {
    const status = statusAfter(this.run.status, signal);
    if (status === undefined) throw refusal(this.run, signal);
    this.run = { ...this.run, ...stored, status };
  }

  savepoint(): () => void {
    const { run, appended, recorded, isAnswerless } = this;
    return () => {
      Object.assign(this, { run, appended, recorded, isAnswerless });
    };
  }

  #take(event: NewEvent): RunEvent {
    const { type, payload, nodeId, causationId } = held(event);
    // Member by member: an event of an engine may have others, for example a copy of a recorded one.
    const taken: RunEvent = {
      eventId: this.#mintEventId(),
      runId: this.run.runId,
      sequence: this.run.lastSequence + 1,
      timestamp: this.#clock.now(),
      schemaVersion: EVENT_SCHEMA_VERSION,
      engineVersion: this.run.engineVersion,
      type,
      payload,
      ...(nodeId !== undefined && { nodeId }),
      ...(causationId !== undefined && { causationId }),
    };
    const next = afterEvent(this.run, taken);
    if (next === undefined) throw refusal(this.run, event.type);
    this.isAnswerless ||= isTerminal(next.status) && this.run.currentNodeId !== undefined;
    this.run = next;
    this.appended = [...this.appended, { run: next, event: taken }];
    this.recorded = [...this.recorded, taken];
    return taken;
  }

  #mintEventId(): string {
    return mintId('evt', this.#clock.now, this.#random);
  }
}

const EVENT_SCHEMA_VERSION = 1;

/** A requested pause takes effect as soon as no node is open, in the transaction that closed the last one. */
function isDrained({ status, pauseRequest, openNodes }: Run): boolean {
  return status === 'running' && pauseRequest !== undefined && openNodes === undefined;
}

/**
 * Makes the error for an event or signal that a run does not accept in its status.
 *
 * @param rejected the event type or signal
 */
export function refusal({ status }: Run, rejected: string): HostError {
  const details = { runStatus: status };
  if (isTerminal(status)) return new HostError('run_terminal', 'The run has ended; its log is closed.', { details });
  const { state, remedy = '' } = STATE[status] ?? { state: `is ${status}` };
  return new HostError('run_state_conflict', `The run ${state}; it does not accept ${rejected}.${remedy}`, { details });
}

/** How an error message names a status, and the way out of it. */
const STATE: Partial<Record<RunStatus, { readonly state: string; readonly remedy?: string }>> = {
  pending: { state: 'has not started' },
  paused: { state: 'is paused', remedy: ' Resume it first.' },
  'waiting-approval': { state: 'waits for an approval', remedy: ' Answer its interrupt first.' },
  'waiting-input': { state: 'waits for input', remedy: ' Answer its interrupt first.' },
  'waiting-external': { state: 'waits for an external event', remedy: ' Answer its interrupt first.' },
  cancelling: { state: 'is being cancelled' },
};
