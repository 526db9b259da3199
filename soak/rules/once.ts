import type { Rule } from './case.ts';

/** A creation with an idempotency key made one run, however often it was asked for, and every answer named that run. */
export const once: Rule = ({ runs, keyed }) => {
  const made = new Map<string, string>();
  const all = [
    ...runs.flatMap(({ runId, idempotencyKey }) => (idempotencyKey === undefined ? [] : [{ runId, idempotencyKey }])),
    ...keyed,
  ];
  return all.flatMap(({ runId, idempotencyKey }) => {
    const before = made.get(idempotencyKey) ?? runId;
    made.set(idempotencyKey, before);
    return before === runId ? [] : [`${idempotencyKey} made both ${before} and ${runId}`];
  });
};
