import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import { DIFFERENCE_KINDS } from '../versions/differences.ts';
import { MIRROR_SKIPS, type MirrorReport } from '../versions/mirror-report.ts';

const COUNT = z.int().min(0);
const TIME = z.iso.datetime();
const READ = {
  operation: z.string().describe('The operation, as the API description names it.'),
  major: z.union([z.literal(1), z.literal(2)]).describe('The major of the callers.'),
};

/** The schema of the report of mirrored reads. */
export const mirrorReport: z.ZodType = z
  .object({
    since: TIME.describe('The start of this host, which counts since then.'),
    operations: z.array(z.object({ ...READ, compared: COUNT, different: COUNT }).meta({ id: 'MirroredOperation' })),
    differences: z.array(
      z
        .object({
          ...READ,
          pointer: z
            .string()
            .describe('A JSON pointer. `*` is any index, and `?` a name that the protocol does not define.'),
          kind: z.enum(DIFFERENCE_KINDS),
          reads: COUNT,
          firstAt: TIME,
          lastAt: TIME,
        })
        .meta({ id: 'MirrorDifference' }),
    ),
    unlisted: COUNT.describe('Differences that the list has no room for.'),
    skipped: z.array(z.object({ reason: z.enum(MIRROR_SKIPS), reads: COUNT })),
  })
  .meta({ id: 'MirrorReport' });

/** The report of mirrored reads as a reply shows it. */
export function mirrorReportView(report: Pick<MirrorReport, 'read'>): JsonObject {
  const { since, operations, differences, unlisted, skipped } = report.read();
  return {
    since: timeText(since),
    operations: operations.map((each) => ({ ...each })),
    differences: differences.map(({ firstAt, lastAt, ...each }) => ({
      ...each,
      firstAt: timeText(firstAt),
      lastAt: timeText(lastAt),
    })),
    unlisted,
    skipped: skipped.map((each) => ({ ...each })),
  };
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}
