import type { Answer } from './answer.ts';
import { type FailureOptions, type RefusedRequest, refusalOf } from './refusal.ts';

/** The answer to an error of any kind. */
export function failureAnswer(
  error: unknown,
  options: FailureOptions,
  bodyOf: (refusal: RefusedRequest) => unknown,
): Answer {
  const refusal = refusalOf(error, options);
  const { status, headers } = refusal;
  const body = JSON.stringify(bodyOf(refusal));
  return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}
