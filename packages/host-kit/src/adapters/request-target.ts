import type { RequestFault } from '../http/request-fault.ts';

/** A request target in origin form. */
export interface JudgedTarget {
  /** Path and query as received. With a fault, as `URL` writes them: they only choose the stamps of the refusal. */
  readonly target: string;
  /** Set when `URL` reads another path than the client sent. */
  readonly fault?: RequestFault;
}

/**
 * Judges the target of a request. The absolute form is read as its path when it names the authority of `Host`.
 *
 * @returns undefined for a target without a path, such as `*`
 * @see RFC 9112, section 3.2
 */
export function judgeTarget(target: string, host: string | undefined): JudgedTarget | undefined {
  const absolute = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target);
  if (absolute === null) return judgePath(target);
  const [, authority = '', rest = ''] = absolute;
  const judged = judgePath(rest.startsWith('/') ? rest : `/${rest}`);
  if (judged === undefined || authority.toLowerCase() === host?.toLowerCase()) return judged;
  return { ...judged, fault: judged.fault ?? OTHER_ORIGIN };
}

/** The query is not looked at: what `URL` changes in it chooses no other route. */
function judgePath(target: string): JudgedTarget | undefined {
  if (!target.startsWith('/')) return undefined;
  // Two slashes would begin an authority.
  const isPath = !target.startsWith('//') && URL.canParse(target, ANY_ORIGIN);
  const { pathname, search } = new URL(isPath ? target : '/', ANY_ORIGIN);
  const isPlain = isPath && !target.includes('#') && pathname === target.split('?', 1)[0];
  return isPlain ? { target } : { target: pathname + search, fault: NOT_PLAIN };
}

const ANY_ORIGIN = 'http://host';

const NOT_PLAIN: RequestFault = {
  status: 400,
  message:
    'The request target has characters or segments that clients must encode. Send a path without dot segments, fragment, ' +
    'white space and unencoded characters such as {.',
};
const OTHER_ORIGIN: RequestFault = {
  status: 400,
  message: 'The request target names another origin than the Host line. Send the path alone.',
};
