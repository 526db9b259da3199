import type { Rule } from './case.ts';

/** Every idempotency key created one run, and every response to a creation with the key names that run. */
export const once: Rule = ({ runs, keyed }) => {
  const made = new Map<string, string>();
  const all = [
    ...runs.flatMap(({ runId, idempotencyKey }) => (idempotencyKey === undefined ? [] : [{ runId, idempotencyKey }])),
    ...keyed,
  ];
  return all.flatMap(({ runId, idempotencyKey }) => {
    const before = made.get(idempotencyKey) ?? runId;
    made.set(idempotencyKey, before);
    return before === runId ? [] : [`${idempotencyKey} created both ${before} and ${runId}`];
  });
};
