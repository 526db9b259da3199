import type { JsonObject } from '../jwt/strict-json.ts';
import type { StatusIssuer, StatusJudge, StatusLists } from '../status-list/status-lists.ts';
import type { VerifiedIdentity } from './scheme.ts';

/**
 * Makes the judge of the status of the tokens of an issuer. Undefined: the issuer has no lists.
 *
 * @param name the option, for the error
 * @throws {TypeError} for lists that `statusLists` did not make
 */
export function statusJudge(
  name: string,
  lists: StatusLists | undefined,
  issuer: StatusIssuer,
): StatusJudge | undefined {
  if (lists === undefined) return undefined;
  if (typeof lists?.judgeOf === 'function') return lists.judgeOf(issuer);
  throw new TypeError(`${name} must be made by statusLists of @svc/auth/status-list.`);
}

/** Returns the check of the status of a verified token, for its identity. */
export function statusOf(judge: StatusJudge | undefined, claims: JsonObject): Pick<VerifiedIdentity, 'requireStatus'> {
  if (judge === undefined) return {};
  return {
    async requireStatus() {
      if (!judge.accepts(claims)) await judge.require(claims);
    },
  };
}
