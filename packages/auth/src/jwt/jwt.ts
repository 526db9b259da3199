import { decodeBase64url } from '#base64url';
import { isObject, type JsonObject, parseObject } from './strict-json.ts';

/** A JSON Web Token, parsed and not yet verified. */
export interface Jwt {
  /** The token in compact form. */
  readonly token: string;
  /** The header. */
  readonly header: Readonly<Record<string, unknown>>;
  /** The claims. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/**
 * Parses a signed token in compact form. Returns undefined for any other text. Every token has one encoding: base64url
 * that is not canonical, or JSON that is not strict, is not a token.
 *
 * @param maxLength the most characters of the token. Default 8192, the length limit of `Authorization`
 * @see RFC 7515, section 3.1; RFC 8725, section 3
 */
export function readJwt(token: string, maxLength: number = MAX_LENGTH): Jwt | undefined {
  const [first, second, third, ...more] = token.length <= maxLength ? token.split('.', 4) : [];
  if (first === undefined || second === undefined || third === undefined || more.length > 0) return undefined;
  if (!OBJECT.test(first) || !isBase64url(first) || !isBase64url(second) || !isBase64url(third)) return undefined;
  const header = parseObject(decodeBase64url(first));
  const claims = parseObject(decodeBase64url(second));
  return header === undefined || claims === undefined ? undefined : { token, header, claims };
}

const MAX_LENGTH = 8192;

/** The base64url encoding of a brace followed by a quotation mark or white space begins so. */
const OBJECT = /^e[wy]/;

/** Returns whether a text is canonical base64url: no padding, and unused bits are zero. */
export function isBase64url(text: string): boolean {
  return BASE64URL.test(text);
}

const BASE64URL = /^(?:[\w-]{4})*(?:[\w-]{2}[AEIMQUYcgkosw048]|[\w-][AQgw])?$/;

/** Returns a claim that is a string, or undefined. */
export function textClaim(claims: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** Returns a claim that is an object, or undefined. */
export function objectClaim(claims: JsonObject, name: string): JsonObject | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return isObject(value) ? value : undefined;
}
