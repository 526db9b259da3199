import type { JsonObject } from '../json.ts';
import {
  any,
  closed,
  exact,
  flag,
  list,
  number,
  oneOf,
  open,
  optional,
  type PayloadShape,
  text,
  whole,
} from './shape.ts';

/** The id of a node. @see Interface: Versioning */
export const nodeId: PayloadShape<string> = text({ pattern: '^[A-Za-z0-9._~:-]{1,128}$' });

/** An id of major 1. */
export const plainId: PayloadShape<string> = text({ minLength: 1, maxLength: 128 });

/** An id as an engine names it: one that major 1 shows as it is, and that major 2 can bind to a tenant. */
export const bindableId: PayloadShape<string> = text({ pattern: '^[A-Za-z0-9._~-]{16,128}$' });

/** An id of major 2, bound to its tenant, as in `acme/run_01k0p3v5tq9d8m2x4c6b8n0r1s`. */
export const boundId: PayloadShape<string> = text({
  pattern: '^(?:anon:)?[A-Za-z0-9._~-]{1,128}/[A-Za-z0-9._~-]{16,128}$',
});

/** A subject. It contains itself, so schemas refer to `SUBJECT`. @see Interface: Subject record */
export const subject: PayloadShape<JsonObject> = {
  schema: { $ref: '#/$defs/subject' },
  problem: (value) => SUBJECT.problem(value),
};

/** The definition that `subject` refers to. */
export const SUBJECT: PayloadShape = exact({
  issuer: text(),
  subjectId: text(),
  tenant: text(),
  lane: text(),
  kind: oneOf('user', 'agent', 'anonymous', 'workload'),
  keyClass: optional(text()),
  actor: optional(subject),
});

/** The owner of a run in major 2. @see Interface: Run owner (identity triple) */
export const owner = exact({ tenant: text(), workspace: optional(text()), subject });

/** The owner of a run in major 1, in which every member may be absent. */
export const ownerV1 = exact({
  tenant: optional(text()),
  workspace: optional(text()),
  principal: optional(text()),
  principalKind: optional(oneOf('user', 'agent', 'anonymous')),
  subject: optional(subject),
});

/** The error of a run or of a node. */
export const failure = closed({
  code: text({ minLength: 1 }),
  message: text(),
  details: optional(open),
  retryable: optional(flag),
});

/** A time as the majors show it. */
export const time: PayloadShape<string> = {
  schema: { type: 'string', format: 'date-time' },
  problem: (value) =>
    typeof value === 'string' && RFC_3339.test(value) ? undefined : { path: [], rule: 'must be an RFC 3339 time' },
};

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** A duration in milliseconds. */
export const durationMs: PayloadShape<number> = number(0);

/** The members of a question in both majors. */
export const QUESTION = {
  kind: text({ minLength: 1 }),
  key: text({ minLength: 1, maxLength: 256 }),
  data: open,
  resumeSchema: optional(open),
  timeoutMs: optional(whole(0)),
} as const;

/** The reason of a suspension or of an answer. */
const shortReason = text({ minLength: 1, maxLength: 64 });

/** The members of a suspension, with the ids of a form. */
export function suspension(interruptId: PayloadShape<string>) {
  return {
    nodeId,
    interruptId,
    kind: optional(text()),
    key: optional(text()),
    reason: optional(shortReason),
  } as const;
}

/** The members of the end of a suspension, with the ids of a form. */
export function resumption(interruptId: PayloadShape<string>) {
  return { nodeId, interruptId: optional(interruptId), resumeValue: optional(any) } as const;
}

/** The members of an answer in major 2, which has one form for every event that reports one. */
export const ANSWER = {
  nodeId,
  interruptId: boundId,
  kind: optional(text()),
  resumeValue: optional(any),
  reason: optional(shortReason),
  resolvedBy: optional(subject),
  decision: optional(oneOf('granted', 'rejected', 'overridden')),
  action: optional(text()),
} as const;

/** A list of texts. */
export const texts: PayloadShape<readonly string[]> = list(text());
