import type { Rule } from './case.ts';

/** No attempt begins after a removal was answered. What was on its way by then may come a moment later. */
export const removal: Rule = ({ received, subscription }) =>
  received.flatMap(({ name, at, runId, sequence }) => {
    const removedAt = subscription.get(name)?.removedAt;
    if (removedAt === undefined || at <= removedAt + ON_ITS_WAY_MS) return [];
    return [`${name}: ${runId} #${sequence} came ${at - removedAt} ms after the removal was answered`];
  });

const ON_ITS_WAY_MS = 1000;
