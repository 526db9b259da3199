import type { Clock } from './ports/clock.ts';
import type { Log, LogRecord } from './ports/log.ts';

/** A log that writes one line a second for one cause. */
export interface FloodGuard {
  readonly log: Log;
  /** Writes the lines that are held back, and holds back no more. */
  end(): void;
}

/**
 * Guards a log against a flood of errors, such as one for each request while a disk is full. The first error of a cause
 * is written at once. Those that follow within a second become one line, without the stack, with their number in
 * `repeated` and up to 50 of their correlation ids. Records of another level are written as they come.
 *
 * @param levels the levels that are guarded. Default: `error` alone
 */
export function floodGuard(log: Log, clock: Clock, levels: readonly LogRecord['level'][] = ['error']): FloodGuard {
  const causes = new Map<string, Cause>();
  let isEnded = false;

  return {
    log(record) {
      if (!levels.includes(record.level) || isEnded) return log(record);
      const name = causeOf(record);
      const cause = causes.get(name);
      if (cause !== undefined) {
        cause.repeated += 1;
        cause.last = record;
        const { correlationId } = record;
        if (typeof correlationId === 'string' && cause.correlationIds.length < MOST_IDS)
          cause.correlationIds.push(correlationId);
        return;
      }
      // The number of causes is bounded by the program, unless an error quotes its input.
      if (causes.size < MOST_CAUSES) causes.set(name, silence(name));
      log(record);
    },
    end() {
      isEnded = true;
      for (const cause of causes.values()) {
        cause.cancel();
        tell(cause);
      }
      causes.clear();
    },
  };

  function silence(name: string): Cause {
    const cancel = clock.after(QUIET_MS, () => {
      const cause = causes.get(name);
      causes.delete(name);
      if (cause === undefined || cause.repeated === 0) return;
      causes.set(name, silence(name));
      tell(cause);
    });
    return { repeated: 0, last: undefined, correlationIds: [], cancel };
  }

  function tell({ repeated, last, correlationIds }: Cause): void {
    if (last === undefined) return;
    const { stack: _, ...record } = last;
    log({ ...record, repeated, ...(correlationIds.length > 0 && { correlationIds }) });
  }
}

/** The records of one cause within the current second, after the first. */
interface Cause {
  repeated: number;
  last: LogRecord | undefined;
  readonly correlationIds: string[];
  readonly cancel: () => void;
}

/** Names the cause of a record by its event and message. Ids and numbers in the message make no other cause. */
function causeOf({ event, error }: LogRecord): string {
  const message = typeof error === 'string' ? error.replace(/[0-9a-f-]{8,}|\d+/gi, '#').slice(0, 500) : '';
  return `${event} ${message}`;
}

const QUIET_MS = 1000;
const MOST_IDS = 50;
const MOST_CAUSES = 500;
