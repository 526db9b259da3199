import { invalid } from '../errors.ts';

/**
 * Reads a whole number of a query; undefined when the parameter is missing.
 *
 * @throws {HostError} `validation_error` for another text, a number out of range or a repeated parameter
 */
export function wholeNumberIn(
  query: URLSearchParams,
  name: string,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  const given = query.getAll(name);
  const [text] = given;
  if (text === undefined) return undefined;
  const number = given.length === 1 && /^-?[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  throw invalid({ field: `query.${name}`, problem: `must be one whole number ${range}` });
}
