import type { Rule } from './case.ts';

/** No attempt begins after the response to a removal. A request that was in flight may arrive up to 1 s later. */
export const removal: Rule = ({ received, subscription }) =>
  received.flatMap(({ name, at, runId, sequence }) => {
    const removedAt = subscription.get(name)?.removedAt;
    if (removedAt === undefined || at <= removedAt + IN_FLIGHT_MS) return [];
    return [`${name}: ${runId} #${sequence} arrived ${at - removedAt} ms after the response to the removal`];
  });

const IN_FLIGHT_MS = 1000;
