import type { OnOutcome } from '@svc/auth';
import { incidents } from './incidents.ts';
import { denialRecords } from './record-denials.ts';
import type { Services } from './services.ts';

/** Watches the decisions about callers. */
export interface CallerWatch {
  readonly onOutcome: OnOutcome;
  /** Records what is held back, and watches no more. */
  end(): void;
}

/** Counts each decision, records the refusals, and finds incidents in them. */
export function callerWatch({
  log,
  clock,
  audit,
  observe,
}: Pick<Services, 'log' | 'clock' | 'audit' | 'observe'>): CallerWatch {
  const denials = denialRecords({ log, clock, recorder: audit?.recorder });
  const found = incidents({ log, clock, begun: observe.authentication.begun });
  return {
    onOutcome(report) {
      observe.authentication.decided(report);
      found.note(report);
      if (report.kind === 'refused') denials.record(report);
    },
    end() {
      denials.end();
      found.end();
    },
  };
}
