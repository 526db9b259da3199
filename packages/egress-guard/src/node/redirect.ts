import type { CheckedUrl } from '../url.ts';
import type { ExchangeResponse } from './exchange.ts';

/** Returns the target of a redirect, resolved against the called URL; undefined for other responses. */
export function redirectTarget(
  { status, headers }: Pick<ExchangeResponse, 'status' | 'headers'>,
  { href }: Pick<CheckedUrl, 'href'>,
): string | undefined {
  if (!REDIRECTS.has(status) || headers.location === undefined) return undefined;
  const location = [headers.location].flat().join(',');
  return URL.canParse(location, href) ? new URL(location, href).href : location;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Whether two URLs have one origin. An origin that cannot be read is a foreign one. */
export function isSameOrigin(url: string, from: string): boolean {
  return URL.canParse(url) && new URL(url).origin === new URL(from).origin;
}
