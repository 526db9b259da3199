import type { Major } from '@svc/versioning';
import type { JsonObject } from '../json.ts';
import type { OperationalEvent } from '../webhooks/operational-event.ts';
import type { Rendered } from '../webhooks/outbox.ts';
import { runIdOf } from './event.ts';
import { shownUrl } from './operator.ts';
import { webhookIdOf } from './webhook.ts';

/**
 * Renders the delivery of an event about a subscription. It has the form of every delivery: its run id is that of no
 * run, and major 1 names the workspace of the subscription.
 *
 * @param engineVersion the version that every event carries
 */
export function operationalRenderer(engineVersion: number): (event: OperationalEvent, major: Major) => Rendered {
  return (event, major) => {
    const { subject, eventId, type, sequence, timestamp, details } = event;
    const runId = runIdOf[major]({ tenant: subject.tenant, runId: event.runId });
    const workspaceId = major === 1 ? onlyWorkspace(subject.workspaces) : undefined;
    const body: JsonObject = {
      runId,
      ...(workspaceId !== undefined && { workspaceId }),
      event: {
        eventId,
        runId,
        type,
        sequence,
        timestamp: new Date(timestamp).toISOString(),
        payload: { webhookId: webhookIdOf[major](subject), url: shownUrl(subject), ...details },
        schemaVersion: 1,
        engineVersion,
      },
    };
    return { eventType: type, body: utf8.encode(JSON.stringify(body)) };
  };
}

function onlyWorkspace(workspaces: OperationalEvent['subject']['workspaces']): string | undefined {
  return workspaces === 'all' || workspaces.length !== 1 ? undefined : workspaces[0];
}

const utf8 = new TextEncoder();
