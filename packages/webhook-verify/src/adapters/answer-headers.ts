import type { ReceiveAnswer } from '../receiver.ts';

/** Returns the headers of an answer, by their lower-case names. */
export function answerHeaders({
  body,
  retryAfterSeconds,
}: Pick<ReceiveAnswer, 'body' | 'retryAfterSeconds'>): Readonly<Record<string, string>> {
  return {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  };
}
