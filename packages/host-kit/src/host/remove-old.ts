import { removeOldEntries } from '../audit/remove-entries.ts';
import { removeEndedRuns } from '../runs/remove-ended.ts';
import type { Services } from './services.ts';

export type RemoveOldServices = Pick<
  Services,
  'store' | 'clock' | 'storeClock' | 'log' | 'observe' | 'audit' | 'recordAudit' | 'retention'
>;

/**
 * Returns a periodic task that removes the runs whose time has passed, in small steps. A round that was interrupted is
 * continued by the next one, of any host.
 */
export function removeOldRuns(services: RemoveOldServices): (signal: AbortSignal) => Promise<void> {
  const { store, clock, log, observe, retention } = services;
  return async (signal) => {
    if (retention.runDays === undefined) return;
    const endedBefore = (await earliestNow(services)) - retention.runDays * DAY_MS;
    const { runs, runRecords } = await removeEndedRuns({ store, clock, endedBefore }, signal);
    observe.removed('run', runs);
    observe.removed('run-record', runRecords);
    if (runs + runRecords > 0) log({ level: 'info', event: 'retention.removed', runs, runRecords });
  };
}

/** Returns a periodic task that removes the audit entries whose time has passed, as {@link removeOldRuns} does. */
export function removeOldAuditEntries(services: RemoveOldServices): (signal: AbortSignal) => Promise<void> {
  const { store, clock, log, observe, audit, recordAudit, retention } = services;
  return async (signal) => {
    if (retention.auditDays === undefined || audit?.sink === undefined) return;
    const { sink, publicKeys } = audit;
    const before = (await earliestNow(services)) - retention.auditDays * DAY_MS;
    const auditRecords = await removeOldEntries({ store, clock, sink, publicKeys, before, recordAudit }, signal);
    observe.removed('audit-record', auditRecords);
    if (auditRecords > 0) log({ level: 'info', event: 'retention.removed', auditRecords });
  };
}

/** Returns the earlier of two clocks: the clock of one machine that is ahead must not remove anything. */
async function earliestNow({ clock, storeClock }: RemoveOldServices): Promise<number> {
  return Math.min(clock.now(), await storeClock.read());
}

const DAY_MS = 86_400_000;
