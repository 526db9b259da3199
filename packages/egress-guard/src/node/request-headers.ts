/**
 * Rejects headers that frame the message, name its destination or steer intermediaries. The guard writes these itself.
 *
 * @throws {TypeError} for such a header, and for an invalid name or value
 */
export function checkRequestHeaders(headers: Readonly<Record<string, string>>): void {
  for (const name in headers) {
    if (RESERVED.test(name)) throw new TypeError(`Header "${name}": is set by the guard. Leave it out.`);
    const value = headers[name];
    if (!TOKEN.test(name)) {
      throw new TypeError(
        `Header ${JSON.stringify(name)}: the name must be a token of RFC 9110. Use letters, digits and -.`,
      );
    }
    if (typeof value !== 'string' || !VALUE.test(value)) {
      throw new TypeError(
        `Header "${name}": the value must be a string of Latin-1 characters. Remove control characters.`,
      );
    }
  }
}

const RESERVED =
  /^(?:host|connection|content-length|transfer-encoding|keep-alive|upgrade|te|trailer|expect|accept-encoding|proxy-.*)$/i;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
