import { invalid } from '../errors.ts';

/**
 * A whole number of a query, or undefined when it is not there.
 *
 * @throws {HostError} `validation_error` for anything else, for one out of range and for one that is there twice
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
