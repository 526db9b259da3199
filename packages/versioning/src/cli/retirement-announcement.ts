import { plainText } from './host-reader.ts';

/** The announcement of a retirement in the headers of an answer. */
export interface Announcement {
  readonly deprecation: string | undefined;
  readonly sunset: string | undefined;
  /** The entries of `Link` about the retirement. */
  readonly links: readonly string[];
}

/** Reads the announcement of an answer. Undefined: it announces nothing. */
export function announcementIn(headers: Headers): Announcement | undefined {
  const links = (headers.get('link') ?? '').split(/,\s*(?=<)/).filter((link) => RELATION.test(link));
  const [deprecation, sunset] = [headers.get('deprecation') ?? undefined, headers.get('sunset') ?? undefined];
  if (deprecation === undefined && sunset === undefined && links.length === 0) return undefined;
  return { deprecation, sunset, links };
}

const RELATION = /;\s*rel="?(?:[^";]* )?(?:deprecation|sunset)\b/i;

/** Returns the dates of an announcement in milliseconds since the epoch. A date of another form is undefined. */
export function datesOf({ deprecation, sunset }: Announcement): {
  readonly deprecatedAt?: number;
  readonly sunsetAt?: number;
} {
  const seconds = /^@(-?[0-9]{1,12})$/.exec(deprecation ?? '')?.[1];
  const sunsetAt = Date.parse(sunset ?? '');
  return {
    ...(seconds !== undefined && { deprecatedAt: Number(seconds) * 1000 }),
    // Only the form of a HTTP date survives being written again.
    ...(!Number.isNaN(sunsetAt) && new Date(sunsetAt).toUTCString() === sunset && { sunsetAt }),
  };
}

/** Returns whether two answers announce the same. */
export function isAlike(one: Announcement | undefined, other: Announcement | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Describes an announcement. */
export function shown(announcement: Announcement | undefined): string {
  if (announcement === undefined) return 'no retirement';
  const { deprecation = 'none', sunset = 'none', links } = announcement;
  const link = links.length === 0 ? '' : `, Link: ${links.join(', ')}`;
  return plainText(`Deprecation: ${deprecation}, Sunset: ${sunset}${link}`);
}
