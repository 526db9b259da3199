import { z } from 'zod';

/** A hundred years. */
const LONGEST_DAYS = 36_500;

const days = (min: number) => z.int().min(min).max(LONGEST_DAYS);

/** The times after which records are removed. */
export const retention = z.strictObject({
  runDays: days(1)
    .optional()
    .describe(
      'Time after its end for which a run is kept, with its events, interrupts, artifacts and annotations, in days. Default: for ever.',
    ),
  auditDays: days(1)
    .optional()
    .describe(
      'Time for which an entry of the audit log is kept, in days. It needs audit.checkpointFile: entries are removed up to a checkpoint of that file. Default: for ever.',
    ),
  idempotencyDays: days(1)
    .max(365)
    .default(1)
    .describe('Time for which a reply is stored under its idempotency key, in days. At most runDays.'),
  effectDays: days(14).default(30).describe('Time after its last change for which an effect is kept, in days.'),
  deliverySeriesDays: days(1)
    .max(31)
    .default(7)
    .describe('Time for which the counts of a minute of deliveries are kept, in days.'),
  versionUseDays: days(1)
    .max(400)
    .default(90)
    .describe('Time for which the requests of each credential under each major are counted, in days.'),
});
