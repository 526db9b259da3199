import { z } from 'zod';
import type { JsonObject } from '../json.ts';

/** The schema of the list of effects. */
export const effectSeams: z.ZodType = z
  .strictObject({
    seams: z.array(
      z.strictObject({
        seam: z.string().describe('A kind of effect.'),
        replay: z.enum(['recorded-outcome', 'suppressed']).describe('What a replay has in its place.'),
        description: z.string(),
      }),
    ),
  })
  .meta({ id: 'EffectSeams' });

/** Where a run touches the world, and what a replay does there. */
export const effectSeamsBody: JsonObject = {
  seams: [
    {
      seam: 'node',
      replay: 'recorded-outcome',
      description: 'A node ends as it ended in the source run, with all that it recorded; its work is not done.',
    },
    {
      seam: 'interrupt',
      replay: 'recorded-outcome',
      description: 'Nobody is asked again: a question has the answer that it had.',
    },
    { seam: 'timer', replay: 'suppressed', description: 'What took its time in the source run takes none.' },
    { seam: 'webhook', replay: 'suppressed', description: 'No event of a replay is delivered to a subscription.' },
  ],
};
