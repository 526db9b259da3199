/**
 * Returns a value of an engine as JSON has it, because that is stored: without inherited members and functions, for
 * example. Later changes of the value have no effect.
 *
 * @param what the begin of an error message, such as `acme.sent: payload`
 * @throws {TypeError} for a value that JSON does not have
 */
export function asJson<T>(what: string, value: T): T {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new TypeError(`${what} is no JSON. Pass a value without cycles and without BigInt.`, { cause });
  }
  if (text === undefined) throw new TypeError(`${what} is missing. Pass a JSON value.`);
  // The JSON of a value has its type, except for members that JSON does not have: its readers check it.
  return JSON.parse(text);
}
