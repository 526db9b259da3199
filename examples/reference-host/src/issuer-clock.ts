import type { Log } from '@svc/host-kit';

/** The answer of an issuer, as far as its time matters. */
interface Dated {
  readonly headers: { get(name: string): string | null };
}

/** A fetch for metadata and keys of issuers. */
type IssuerFetch<Options, Answer extends Dated> = (url: string, options: Options) => Promise<Answer>;

/**
 * Compares the clock of the host with the `Date` of each answer. A difference of more than 30 s is logged once for each
 * origin, until the clocks agree: tokens of that issuer would look as if they were of another time.
 */
export function comparedWithIssuers<Options, Answer extends Dated>(
  fetch: IssuerFetch<Options, Answer>,
  { now, log }: { readonly now: () => number; readonly log: Log },
): IssuerFetch<Options, Answer> {
  const differing = new Set<string>();
  return async (url, options) => {
    const asked = now();
    const answer = await fetch(url, options);
    compare(new URL(url).origin, answer.headers.get('date'), asked);
    return answer;
  };

  function compare(issuer: string, date: string | null, asked: number): void {
    const time = HTTP_DATE.test(date ?? '') ? Date.parse(date ?? '') : Number.NaN;
    if (Number.isNaN(time)) return;
    // The answer was made between the request and now, and its time has whole seconds.
    const aheadMs = asked > time + SECOND_MS ? asked - time : Math.min(0, now() - time);
    if (Math.abs(aheadMs) <= ACCEPTED_MS) differing.delete(issuer);
    else if (!differing.has(issuer)) {
      differing.add(issuer);
      log({ level: 'warn', event: 'clock.differs-from-issuer', issuer, aheadMs, message: MESSAGE });
    }
  }
}

/** @see RFC 9110, section 5.6.7 */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

const MESSAGE = 'The clock of this host and that of an issuer of tokens differ. Compare both with a time server.';
const SECOND_MS = 1000;
const ACCEPTED_MS = 30_000;
