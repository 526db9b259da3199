import { decodeBase64url } from '#base64url';
import { isObject, type JsonObject, parseObject } from './strict-json.ts';

/** A JSON Web Token that has been taken apart and not yet verified. */
export interface Jwt {
  readonly token: string;
  readonly header: JsonObject;
  readonly claims: JsonObject;
}

/**
 * Takes a signed token in compact form apart, or answers undefined for what is none. There is one text for every token: what is
 * not canonical base64url, or not strict JSON, is no token.
 *
 * @see RFC 7515, section 3.1; RFC 8725, section 3
 */
export function readJwt(token: string): Jwt | undefined {
  const [first, second, third, ...more] = token.length <= MAX_LENGTH ? token.split('.', 4) : [];
  if (first === undefined || second === undefined || third === undefined || more.length > 0) return undefined;
  if (!OBJECT.test(first) || !isBase64url(first) || !isBase64url(second) || !isBase64url(third)) return undefined;
  const header = parseObject(decodeBase64url(first));
  const claims = parseObject(decodeBase64url(second));
  return header === undefined || claims === undefined ? undefined : { token, header, claims };
}

/** As long as what `Authorization` may carry. */
const MAX_LENGTH = 8192;

/** How base64url begins of a brace and a quotation mark or white space. */
const OBJECT = /^e[wy]/;

/** In the alphabet, without padding, and with the bits that stand for nothing at zero. */
export function isBase64url(text: string): boolean {
  return BASE64URL.test(text);
}

const BASE64URL = /^(?:[\w-]{4})*(?:[\w-]{2}[AEIMQUYcgkosw048]|[\w-][AQgw])?$/;

/** A claim that is a text, or undefined. */
export function textClaim(claims: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** A claim that is an object, or undefined. */
export function objectClaim(claims: JsonObject, name: string): JsonObject | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return isObject(value) ? value : undefined;
}
