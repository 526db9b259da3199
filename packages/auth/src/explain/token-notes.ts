import { readJwt } from '../jwt/jwt.ts';

/**
 * Describes a signed token for its operator, by the name of the check that reads it. Only the issuer, the audience, the
 * names in the header and the times are shown: a subject may be a person.
 *
 * @param at the time of the judgement in milliseconds since the epoch
 */
export function tokenNotes(token: string, at: number): ReadonlyMap<string, string> {
  const jwt = readJwt(token);
  if (jwt === undefined) return new Map();
  const { alg, typ, kid } = jwt.header;
  const { iss, aud, iat, nbf, exp } = jwt.claims;
  const key = `iss ${shown(iss)}, kid ${shown(kid)}`;
  return new Map([
    ['issuer', `iss ${shown(iss)}`],
    ['type', `alg ${shown(alg)}, typ ${shown(typ)}`],
    ['signing key', key],
    ['trust', key],
    ['audience', `aud ${[aud].flat().slice(0, MOST_AUDIENCES).map(shown).join(', ')}`],
    ['times', `iat ${distance(iat, at)}, nbf ${distance(nbf, at)}, exp ${distance(exp, at)}`],
  ]);
}

function distance(time: unknown, at: number): string {
  if (time === undefined) return 'absent';
  if (typeof time !== 'number' || !Number.isFinite(time)) return 'malformed';
  const seconds = Math.round(time - at / 1000);
  return seconds > 0 ? `in ${seconds} s` : `${-seconds} s ago`;
}

/** Quotes a text from the token. It is cut, and cannot steer the terminal. */
function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  if (typeof value !== 'string') return 'malformed';
  return value.length > MOST_CHARACTERS ? `${quoted(value.slice(0, MOST_CHARACTERS))}…` : quoted(value);
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

const MOST_CHARACTERS = 120;
const MOST_AUDIENCES = 5;
