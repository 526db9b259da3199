import type { Major } from '@svc/versioning';
import { eventName } from '@svc/versioning/events';
import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';
import type { Rendered } from '../webhooks/outbox.ts';
import { eventBody, runIdOf } from './event.ts';

/** Renders the exact bytes of a delivery in the form of a major. @see Interface: Webhook delivery body */
export function renderDelivery(run: Run, event: RunEvent, major: Major): Rendered {
  const workspaceId = WORKSPACE[major](run);
  const body = {
    runId: runIdOf[major](run),
    // Absent for a run of the whole tenant: the tenant is not a substitute for a workspace.
    ...(workspaceId !== undefined && { workspaceId }),
    event: eventBody(major, run, event),
  };
  return { eventType: eventName(major, event.type), body: utf8.encode(JSON.stringify(body)) };
}

/** Major 2 names the workspace exactly when the owner of the run names it. */
const WORKSPACE: Readonly<Record<Major, (run: Run) => string | undefined>> = {
  1: ({ workspace }) => workspace,
  2: ({ owner }) => owner?.workspace,
};

const utf8 = new TextEncoder();
