import { memoryRateLimiter } from '@svc/auth/rate-limit';
import type { AuditRecorder } from '../audit/recorder.ts';
import type { PublicRefusal } from '../http/public-endpoint.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

/** The parts of {@link publicRefusals}. */
export interface PublicRefusalsOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Undefined: the host keeps no audit log. */
  readonly recorder: Pick<AuditRecorder, 'recordRequest' | 'isFull'> | undefined;
}

/**
 * Records the requests that public routes refuse, in the log and in the audit log. A refusal needs no credential, so at
 * most 60 in a minute are recorded for each route: a flood must not fill the audit log. None is recorded while 5000
 * facts wait. The next record tells how many were left out.
 */
export function publicRefusals({ log, clock, recorder }: PublicRefusalsOptions): (refusal: PublicRefusal) => void {
  const budget = memoryRateLimiter({ limit: MOST_A_MINUTE, windowSeconds: 60, now: clock.now });
  const leftOut = new Map<string, number>();

  return ({ method, path, code, status, startedAt, resource = null }) => {
    const route = `${method} ${path}`;
    const unrecorded = leftOut.get(route) ?? 0;
    const decision = budget.consume(route);
    // A limiter in memory decides at once. Otherwise nothing would be recorded, rather than too much.
    if (!('allowed' in decision) || !decision.allowed || recorder?.isFull()) {
      leftOut.set(route, unrecorded + 1);
      return;
    }
    leftOut.delete(route);
    const details = { operation: 'host', method, path, code, status, unrecorded };
    log({ level: 'info', event: 'request.refused', ...details, ...(resource !== null && { resource }) });
    const occurredAt = new Date(startedAt).toISOString();
    // The recorder writes the fact later, and logs and retries a write that fails.
    void recorder?.recordRequest({ action: 'request.refused', actor: 'public', target: resource, occurredAt, details });
  };
}

const MOST_A_MINUTE = 60;
