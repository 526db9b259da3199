import type { Json, JsonObject } from '@svc/host-kit';
import { timeoutRefusal, unanswered } from './timeout.ts';
import type { Workflow } from './workflow.ts';

/** Waits for an event of another system. Completes with it. */
export const externalEvent: Workflow = {
  refuse({ eventType, correlation, timeoutMs }) {
    if (eventType !== undefined && (typeof eventType !== 'string' || eventType === '')) {
      return { field: 'inputs.eventType', problem: 'must be a non-empty string' };
    }
    if (correlation !== undefined && !isJsonObject(correlation)) {
      return { field: 'inputs.correlation', problem: 'must be an object' };
    }
    return timeoutRefusal(timeoutMs);
  },
  run: ({ eventType = 'sample.arrived', correlation = {}, timeoutMs }, { node }) =>
    node(
      'external-event',
      'sample.external-event',
      async ({ ask }) => {
        const arrived = await ask({
          ...{
            key: 'event',
            kind: 'external-event',
            data: { eventType: String(eventType), correlation: isJsonObject(correlation) ? correlation : {} },
          },
          resumeSchema: { type: 'object' },
          ...(timeoutMs !== undefined && { timeoutMs: Number(timeoutMs) }),
        });
        if (arrived.isTimeout) throw unanswered('The event did not arrive in time.');
        return { event: arrived.resumeValue };
      },
      { goesOn: true },
    ),
};

function isJsonObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
