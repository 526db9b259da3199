import type { RetentionOptions } from '../options/retention-options.ts';
import type { HostOptions } from '../options.ts';

/** The retention of a host. Undefined: for ever. */
export interface Retention
  extends Pick<RetentionOptions, 'replyHours' | 'effectDays' | 'deliverySeriesDays' | 'versionUseDays'> {
  readonly runDays: number | undefined;
  readonly auditDays: number | undefined;
}

/**
 * Applies the defaults.
 *
 * @throws {TypeError} for times that are no whole days, shorter than the interface allows, or that contradict other
 *   options
 */
export function retentionOf(options: Pick<HostOptions, 'retention' | 'audit' | 'discovery'>): Retention {
  const {
    replyHours = 24,
    runDays,
    auditDays,
    effectDays = 30,
    deliverySeriesDays = 7,
    versionUseDays = 90,
  } = options.retention ?? {};
  requireDays('runDays', runDays, 1);
  requireDays('auditDays', auditDays, 1);
  requireDays('effectDays', effectDays, 14);
  requireDays('deliverySeriesDays', deliverySeriesDays, 1, LONGEST_SERIES_DAYS);
  requireDays('versionUseDays', versionUseDays, 1, LONGEST_USE_DAYS);
  if (runDays !== undefined) {
    const replyDays = Math.ceil(replyHours / 24);
    if (runDays < replyDays)
      throw new TypeError(
        `retention.runDays: must be at least ${replyDays}, because replies that name a run are stored for retention.replyHours. Raise it.`,
      );
    const advertised = options.discovery?.families?.deadLetter?.retentionDays;
    if (advertised !== undefined && runDays < advertised)
      throw new TypeError(
        `retention.runDays: must be at least ${advertised}, the time for which discovery.families.deadLetter promises to keep failed runs. Raise it.`,
      );
  }
  if (auditDays !== undefined && options.audit?.checkpointSink?.lastUpTo === undefined)
    throw new TypeError(
      'retention.auditDays: needs an audit.checkpointSink with lastUpTo, because entries are removed only up to a checkpoint that it holds. Pass checkpointFile(path), or leave auditDays out.',
    );
  return { replyHours, runDays, auditDays, effectDays, deliverySeriesDays, versionUseDays };
}

function requireDays(name: keyof RetentionOptions, days: number | undefined, min: number, max = LONGEST_DAYS): void {
  if (days === undefined || (Number.isInteger(days) && days >= min && days <= max)) return;
  throw new TypeError(
    `retention.${name}: must be a whole number of days from ${min} to ${max}. Leave it out for the default.`,
  );
}

/** A hundred years. */
const LONGEST_DAYS = 36_500;
/** A read of a series looks at every minute. */
const LONGEST_SERIES_DAYS = 31;
/** A read of callers sums every day. */
const LONGEST_USE_DAYS = 400;
