import type { Major } from '@svc/versioning';
import { boundId, plainId, time } from '../events/members.ts';
import { exact, object, open, optional, type PayloadShape, text, whole } from '../events/shape.ts';

const workspaceId = text({ pattern: '^[A-Za-z0-9._~-]{1,128}$' });

/** The body of a delivery in each major. Its event has a schema of its own. */
export const DELIVERY: Readonly<Record<Major, PayloadShape>> = {
  1: object({ runId: plainId, workspaceId: text({ minLength: 1 }), event: open }),
  // Absent for a run whose owner names no workspace.
  2: exact({ runId: boundId, workspaceId: optional(workspaceId), event: open }),
};

/** The members of an event that both majors have alike. */
const ENVELOPE = {
  sequence: whole(0),
  timestamp: time,
  schemaVersion: whole(1),
  engineVersion: whole(0),
  nodeId: optional(text()),
  causationId: optional(text()),
} as const;

const eventId = text({ pattern: '^[A-Za-z0-9._~-]{16,128}$' });

/** An event in each major. The types of its payload have schemas of their own. */
export const EVENT: Readonly<Record<Major, PayloadShape>> = {
  1: object({ eventId: plainId, runId: plainId, type: text(), ...ENVELOPE, payload: open }),
  2: exact({ eventId, runId: boundId, type: text(), ...ENVELOPE, payload: open }),
};
