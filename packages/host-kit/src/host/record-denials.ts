import type { OutcomeReport } from '@svc/auth';
import type { AuditRecorder } from '../audit/recorder.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

/** A refused caller, as the authenticator reports it. */
export type Denial = Extract<OutcomeReport, { readonly kind: 'refused' }>;

/** The parts of {@link denialRecords}. */
export interface DenialRecordsOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Undefined: the host keeps no audit log. */
  readonly recorder: Pick<AuditRecorder, 'recordRequest' | 'isFull'> | undefined;
}

/** Records of refused callers. */
export interface DenialRecords {
  record(denial: Denial): void;
  /** Records the counts that are held back, and records no more. */
  end(): void;
}

/**
 * Records the callers that authentication refuses, in the log and in the audit log. A stranger can cause any number of refusals,
 * so refusals of one kind become two records in a minute: the first one at once, and the number of the others at
 * the end of the minute. A kind has a lane, a code, a reason and a class of address, so that kinds are few.
 */
export function denialRecords({ log, clock, recorder }: DenialRecordsOptions): DenialRecords {
  const kinds = new Map<string, Kind>();
  let isEnded = false;

  return {
    record(denial) {
      if (isEnded) return;
      const name = `${denial.lane} ${denial.code} ${denial.reason} ${denial.address}`;
      const kind = kinds.get(name);
      if (kind !== undefined) {
        kind.held += 1;
        return;
      }
      // The sets are closed, so this bound is never reached by the lanes of this package.
      if (kinds.size >= MOST_KINDS) return;
      kinds.set(name, hold(name, denial));
      write(denial, 1);
    },
    end() {
      isEnded = true;
      for (const { cancel, denial, held } of kinds.values()) {
        cancel();
        if (held > 0) write(denial, held);
      }
      kinds.clear();
    },
  };

  function hold(name: string, denial: Denial): Kind {
    const cancel = clock.after(MINUTE_MS, () => {
      const held = kinds.get(name)?.held ?? 0;
      kinds.delete(name);
      if (held === 0) return;
      kinds.set(name, hold(name, denial));
      write(denial, held);
    });
    return { denial, held: 0, cancel };
  }

  function write({ lane, code, reason, fault, address }: Denial, count: number): void {
    const details = { lane, code, reason, fault, address, count };
    log({ level: 'info', event: 'authentication.refused', ...details });
    if (recorder === undefined || recorder.isFull()) return;
    const occurredAt = new Date(clock.now()).toISOString();
    // The recorder writes the fact later, and logs and retries a write that fails.
    void recorder.recordRequest({
      action: 'authentication.refused',
      actor: 'public',
      target: null,
      occurredAt,
      details,
    });
  }
}

interface Kind {
  readonly denial: Denial;
  /** The refusals of the current minute after the first. */
  held: number;
  readonly cancel: () => void;
}

const MINUTE_MS = 60_000;
const MOST_KINDS = 512;
