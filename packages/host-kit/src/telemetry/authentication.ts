import type { OutcomeReport } from '@svc/auth';
import { counterOf } from './instruments.ts';
import { METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';

/** Counts the decisions about callers. */
export interface AuthenticationCounter {
  /** Counts one decision. */
  readonly decided: (report: OutcomeReport) => void;
  /** Counts the begin of an incident. */
  readonly begun: (incident: string) => void;
}

export function authenticationCounter({ meter }: Scope): AuthenticationCounter {
  const decisions = counterOf(meter, METRICS.authentications);
  const incidents = counterOf(meter, METRICS.authenticationIncidents);
  return {
    decided(report) {
      const { lane, address } = report;
      decisions.add(1, {
        'svc.auth.lane': lane,
        'svc.auth.address': address,
        'svc.auth.outcome': report.kind === 'refused' ? report.code : report.kind,
        ...(report.kind === 'refused' && { 'svc.auth.reason': report.reason }),
      });
    },
    begun: (incident) => incidents.add(1, { 'svc.auth.incident': incident }),
  };
}
