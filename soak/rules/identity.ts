import type { Received } from '../evidence.ts';
import type { Case, Rule } from './case.ts';

/**
 * Every request is signed for its subscription, and all requests for one event have the same ids, sequence and body.
 */
export const identity: Rule = (evidence) => {
  const first = new Map<string, Received>();
  return evidence.received.flatMap((received) => {
    const { name, runId, sequence, refusal } = received;
    const label = `${name}: ${runId} #${sequence}`;
    if (refusal !== undefined) return [`${name}: a request did not verify: ${refusal}`];
    const before = first.get(label);
    if (before === undefined) first.set(label, received);
    return [...differences(before ?? received, received), ...untrue(received, evidence)].map(
      (fault) => `${label}: ${fault}`,
    );
  });
};

function differences(first: Received, again: Received): string[] {
  const fields = ['eventId', 'webhookId', 'type', 'digest'] as const;
  return fields
    .filter((field) => first[field] !== again[field])
    .map((field) => `its ${field} was ${first[field]} and then ${again[field]}`);
}

/** Compares a request with the log and the registration. */
function untrue({ name, runId, sequence, eventId, type, webhookId }: Received, { run, subscription }: Case): string[] {
  const event = run.get(runId)?.log.find((logged) => logged.sequence === sequence);
  const registered = subscription.get(name)?.webhookId;
  return [
    ...(event !== undefined && event.eventId !== eventId
      ? [`it is ${event.eventId} in the log, but arrived as ${eventId}`]
      : []),
    ...(event !== undefined && event.type !== type ? [`it is ${event.type} in the log, but arrived as ${type}`] : []),
    ...(event === undefined && run.has(runId) ? ['it is not in the log'] : []),
    ...(registered === undefined || registered === webhookId
      ? []
      : [`it names ${webhookId}, but ${registered} is registered there`]),
  ];
}
