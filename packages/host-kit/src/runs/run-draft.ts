import { mintId } from '@svc/versioning/ids';
import { HostError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { NewEvent } from '../ports/engine.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Random } from '../ports/random.ts';
import { isTerminal, type Run } from '../ports/runs.ts';
import { afterEvent, afterHistory } from './after-event.ts';
import { pausedEvent } from './host-events.ts';
import { type RunSignal, statusAfter } from './transitions.ts';

/** A run, and what is about to be done with it. */
export interface RunDraft {
  /** As it stands after all that was done to it here. */
  readonly run: Run;
  /**
   * Appends events in their order, up to one that brings a pause that was asked for: what would follow it has not happened.
   *
   * @returns those that were appended
   * @throws {HostError} `run_terminal`, `run_state_conflict`
   */
  append(...events: readonly NewEvent[]): Promise<readonly RunEvent[]>;
  /**
   * Moves the run by what is no event.
   *
   * @throws {HostError} `run_terminal`, `run_state_conflict`
   */
  signal(signal: RunSignal, stored: Partial<Run>): void;
}

/** An event that is being appended, and its run as the event leaves it. */
export interface Appended {
  readonly run: Run;
  readonly event: RunEvent;
}

/** A draft as whoever writes it down sees it. */
export interface OwnDraft extends RunDraft {
  /** What was appended, in order. */
  readonly appended: readonly Appended[];
  /** The same, and what was taken over, in the order of the log. */
  readonly recorded: readonly RunEvent[];
  readonly isChanged: boolean;
  /** It ended while it waited: nobody will hear the answer. */
  readonly isAnswerless: boolean;
  /** Takes over an event of another run's log as history: nothing moves by it, and nobody is delivered it. */
  copy(event: RunEvent): void;
  /** Replaces what is stored beside the log. */
  set(run: Run): void;
  /** Returns how to take back what is done from now on. */
  save(): () => void;
}

/** Opens a draft of a run: nothing of it is written until somebody does. */
export function draftOf(found: Run, { clock, random }: { readonly clock: Clock; readonly random: Random }): OwnDraft {
  let run = found;
  let appended: readonly Appended[] = [];
  let recorded: readonly RunEvent[] = [];
  let isAnswerless = false;
  return {
    get run() {
      return run;
    },
    get appended() {
      return appended;
    },
    get recorded() {
      return recorded;
    },
    get isChanged() {
      return run !== found;
    },
    get isAnswerless() {
      return isAnswerless;
    },
    async append(...added) {
      const taken: RunEvent[] = [];
      for (const event of added) {
        taken.push(record(event));
        if (!isDrained(run)) continue;
        record(pausedEvent(run));
        break;
      }
      return taken;
    },
    copy(event) {
      const eventId = mintId('evt', clock.now, random);
      const copied = { ...event, eventId, runId: run.runId, sequence: run.lastSequence + 1 };
      run = afterHistory(run, copied);
      recorded = [...recorded, copied];
    },
    set(changed) {
      run = changed;
    },
    signal(signal, stored) {
      const status = statusAfter(run.status, signal);
      if (status === undefined) throw refusal(run, signal);
      run = { ...run, ...stored, status };
    },
    save() {
      const saved = { run, appended, recorded, isAnswerless };
      return () => {
        ({ run, appended, recorded, isAnswerless } = saved);
      };
    },
  };

  function record(event: NewEvent): RunEvent {
    const taken = recordOf(run, event);
    const next = afterEvent(run, taken);
    if (next === undefined) throw refusal(run, event.type);
    isAnswerless ||= isTerminal(next.status) && run.currentNodeId !== undefined;
    run = next;
    appended = [...appended, { run, event: taken }];
    recorded = [...recorded, taken];
    return taken;
  }

  function recordOf(run: Run, event: NewEvent): RunEvent {
    return {
      eventId: mintId('evt', clock.now, random),
      runId: run.runId,
      sequence: run.lastSequence + 1,
      timestamp: clock.now(),
      schemaVersion: EVENT_SCHEMA_VERSION,
      engineVersion: run.engineVersion,
      ...event,
    };
  }
}

const EVENT_SCHEMA_VERSION = 1;

/** A pause that was asked for comes as soon as nothing is under way, in the transaction of what ended last. */
function isDrained({ status, pauseRequest, openNodes }: Run): boolean {
  return status === 'running' && pauseRequest !== undefined && openNodes === undefined;
}

/** Why an event is not to be had. */
export function refusal({ status }: Run, what: string): HostError {
  if (isTerminal(status)) {
    return new HostError('run_terminal', 'The run has ended; its log takes no more events.', {
      details: { runStatus: status },
    });
  }
  return new HostError('run_state_conflict', `${what} is not to be had while the run is ${status}.`, {
    details: { runStatus: status },
  });
}
