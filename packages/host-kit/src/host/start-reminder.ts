import type { Phase } from '../health/check.ts';
import type { Log } from '../ports/log.ts';

/** Tells the operator once, when a host that was not started answers a caller: it answers, but sends no webhook. */
export function startReminder(phase: () => Phase, log: Log): () => void {
  let isTold = false;
  return () => {
    if (isTold || phase() !== 'made') return;
    isTold = true;
    log({ level: 'warn', event: 'host.not-started', message: MESSAGE });
  };
}

const MESSAGE =
  'The host answers requests, but it was not started: it sends no webhook, and drives no run of an earlier start. ' +
  'Await host.start() before you listen.';
