import { z } from 'zod';
import { type Answer, described, jsonOf } from './http/answer.ts';
import { Mismatch } from './mismatch.ts';
import { ERROR } from './shapes/error.ts';

/** Requires one of the statuses, and returns the answer. */
export function status(answer: Answer, ...expected: readonly number[]): Answer {
  if (!expected.includes(answer.status))
    throw new Mismatch(`status ${expected.join(' or ')}`, described(answer), answer);
  return answer;
}

/** Requires a status and a JSON body of a shape, and returns the body. */
export function body<Shape extends z.ZodType>(answer: Answer, expected: number, shape: Shape): z.infer<Shape> {
  status(answer, expected);
  header(answer, 'Content-Type', /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i);
  const json = jsonOf(answer);
  if (json === undefined) throw new Mismatch('a JSON body', described(answer), answer);
  return fits(json, shape, answer);
}

/** Requires the error envelope of the answer's major, with a status and, if any are given, one of the codes. */
export function refused(answer: Answer, expected: number, ...codes: readonly string[]): z.infer<(typeof ERROR)[1]> {
  const envelope = body(answer, expected, ERROR[answer.major]);
  if (codes.length > 0 && !codes.includes(envelope.error)) {
    throw new Mismatch(`the error code ${codes.join(' or ')}`, described(answer), answer);
  }
  return envelope;
}

/** Requires a header, and returns its value. */
export function header(answer: Answer, name: string, expected: RegExp | string): string {
  const value = answer.header(name);
  const isRight = value !== undefined && (typeof expected === 'string' ? value === expected : expected.test(value));
  if (!isRight) {
    const wanted = typeof expected === 'string' ? `"${expected}"` : `a value that matches ${expected}`;
    throw new Mismatch(
      `the header ${name} with ${wanted}`,
      value === undefined ? 'no such header' : `"${value}"`,
      answer,
    );
  }
  return value;
}

/** Requires an item in a header that is a list, such as `Vary`. */
export function listed(answer: Answer, name: string, item: string): void {
  const items = (answer.header(name) ?? '').split(',').map((one) => one.trim().toLowerCase());
  if (!items.includes(item.toLowerCase()) && !items.includes('*')) {
    throw new Mismatch(`the header ${name} to list ${item}`, `"${answer.header(name) ?? ''}"`, answer);
  }
}

/** Requires that a value has a shape, and returns the value. */
export function fits<Shape extends z.ZodType>(value: unknown, shape: Shape, answer?: Answer): z.infer<Shape> {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.slice(0, MOST_PROBLEMS).map(({ path, message }) => {
    return `${path.length === 0 ? 'the value' : path.join('.')}: ${message}`;
  });
  throw new Mismatch(problems.join('; '), answer === undefined ? shown(value) : described(answer), answer);
}

const MOST_PROBLEMS = 5;

/** Requires a condition. `expected` and `seen` each end a sentence: "expected …", "seen …". */
export function holds(condition: boolean, expected: string, seen: unknown, answer?: Answer): asserts condition {
  if (!condition) throw new Mismatch(expected, typeof seen === 'string' ? seen : shown(seen), answer);
}

/** Requires that two values are equal as JSON; the order of members does not matter. */
export function same(seen: unknown, expected: unknown, what: string, answer?: Answer): void {
  const [one, other] = [canonical(seen), canonical(expected)];
  if (one !== other) throw new Mismatch(`${what} to be ${short(other)}`, short(one), answer);
}

/** Formats a value as JSON of at most 600 characters. */
export function shown(value: unknown): string {
  return short(JSON.stringify(value) ?? String(value));
}

function short(text: string): string {
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}

function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_key, one: unknown) => {
      if (typeof one !== 'object' || one === null || Array.isArray(one)) return one;
      return Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)));
    }) ?? 'undefined'
  );
}

/** Shape of any JSON object. */
export const anObject: z.ZodType<Record<string, unknown>> = z.record(z.string(), z.unknown());
