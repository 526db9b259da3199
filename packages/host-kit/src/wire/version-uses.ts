import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { CallerName, CallerUse, VersionDay } from '../ports/version-uses.ts';
import { partsOfCursor, textOfCursor } from './cursor.ts';

const MAJOR = z.union([z.literal(1), z.literal(2)]);
const COUNT = z.int().min(0);
const IS_COMPLETE = z
  .boolean()
  .describe('False: this host could not count some requests since its start, because writes to the store failed.');

/** The schema of a page of the callers of a major. */
export const callerPage: z.ZodType = z
  .object({
    callers: z.array(
      z
        .object({
          lane: z
            .string()
            .describe(
              'The lane of the credential, such as `api-key`. `overflow`: all callers beyond the bound of a day.',
            ),
          credential: z.string().describe('The id of the credential: of an API key, the id of its record.'),
          majors: z.array(
            z.object({
              major: MAJOR,
              requests: COUNT,
              lastAt: z.iso.datetime().describe('The time of the last request.'),
            }),
          ),
        })
        .meta({ id: 'VersionCaller' }),
    ),
    isComplete: IS_COMPLETE,
    nextAfter: z.string().optional().describe('The `after` of the next page. Absent on the last one.'),
  })
  .meta({ id: 'VersionCallers' });

/** The schema of the requests under each major by day. */
export const versionDays: z.ZodType = z
  .object({
    days: z.array(
      z
        .object({ day: z.iso.date().describe('The day, in UTC.'), major: MAJOR, requests: COUNT })
        .meta({ id: 'VersionDay' }),
    ),
    isComplete: IS_COMPLETE,
  })
  .meta({ id: 'VersionDays' });

/** A credential as a page shows it. */
export function callerView({ lane, credential, majors }: CallerUse): JsonObject {
  return {
    lane,
    credential,
    majors: majors.map(({ major, requests, lastAt }) => ({ major, requests, lastAt: new Date(lastAt).toISOString() })),
  };
}

/** The requests of a day as a reply shows them. */
export function versionDayView({ day, major, requests }: VersionDay): JsonObject {
  return { day: new Date(day).toISOString().slice(0, 10), major, requests };
}

/** The opaque cursor of the page after a credential. */
export function callerCursor({ lane, credential }: CallerName): string {
  return textOfCursor([lane, credential]);
}

/** Reads a cursor of `callerCursor`. Undefined for another text. */
export function parseCallerCursor(text: string): CallerName | undefined {
  const [lane, credential, ...others] = partsOfCursor(text, LONGEST_CURSOR);
  return others.length === 0 && isName(lane) && isName(credential) ? { lane, credential } : undefined;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0;
}

const LONGEST_CURSOR = 8192;
