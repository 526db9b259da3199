import type { AuditObserver } from '../audit/sealer.ts';
import { counterOf } from './instruments.ts';
import { METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';

/** Counts the checkpoints of the audit log, and its failures. */
export function auditCounter({ meter }: Scope): AuditObserver {
  const checkpoints = counterOf(meter, METRICS.checkpoints);
  const failures = counterOf(meter, METRICS.auditFailures);
  return {
    sealed: () => checkpoints.add(1),
    failed: (step) => failures.add(1, { 'svc.audit.step': step }),
  };
}
