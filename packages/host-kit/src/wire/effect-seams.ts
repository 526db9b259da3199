import { z } from 'zod';
import type { JsonObject } from '../json.ts';

/** The schema of the list of effect seams. */
export const effectSeams: z.ZodType = z
  .strictObject({
    seams: z.array(
      z.strictObject({
        seam: z.string().describe('The kind of effect.'),
        replay: z
          .enum(['recorded-outcome', 'suppressed'])
          .describe('The behaviour of a replay: it uses the recorded outcome or skips the effect.'),
        description: z.string(),
      }),
    ),
  })
  .meta({ id: 'EffectSeams' });

/** The places where a run has effects outside the host, and the behaviour of a replay there. */
export const effectSeamsBody: JsonObject = {
  seams: [
    {
      seam: 'node',
      replay: 'recorded-outcome',
      description: 'A node gets the outcome and the events that the source run recorded. Its work is not repeated.',
    },
    {
      seam: 'interrupt',
      replay: 'recorded-outcome',
      description: 'An interrupt gets the answer that the source run recorded. No person is asked again.',
    },
    { seam: 'effect', replay: 'suppressed', description: 'A replay makes no effect of the ledger, and calls no URL.' },
    { seam: 'timer', replay: 'suppressed', description: 'A wait of the source run ends at once.' },
    { seam: 'webhook', replay: 'suppressed', description: 'Events of a replay are not delivered to subscriptions.' },
  ],
};
