import type { Major } from '@svc/versioning';
import { bindId } from '@svc/versioning/ids';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';

/**
 * The payload of an interrupt's event in the form of a major. `interrupts/interrupt-events.ts` records these events
 * with all facts, and each major shows its part. A payload without an `interruptId` was recorded by an engine and is
 * unchanged.
 */
export function interruptPayload(major: Major, run: Pick<Run, 'tenant' | 'runId'>, event: RunEvent): Json {
  const { payload } = event;
  const project = PROJECTIONS.get(event.type);
  if (project === undefined || !isJsonObject(payload) || typeof payload.interruptId !== 'string') return payload;
  return project[major]({ ...payload, interruptId: payload.interruptId }, run);
}

type Recorded = JsonObject & { readonly interruptId: string };
type Projection = Readonly<Record<Major, (recorded: Recorded, run: Pick<Run, 'tenant' | 'runId'>) => JsonObject>>;

/** The members of an interrupt that both majors show. */
export function questionBody(major: Major, { kind, key, data, resumeSchema, timeoutMs }: JsonObject): JsonObject {
  return defined({ kind, key, data: dataOf(major, kind, data), resumeSchema, timeoutMs });
}

/** In major 1 the action `edit-accept` of an approval is named `edit`. An answer may use either name. */
function dataOf(major: Major, kind: Json | undefined, data: Json | undefined): Json | undefined {
  if (major === 2 || kind !== 'approval' || !isJsonObject(data) || !Array.isArray(data.actions)) return data;
  return { ...data, actions: data.actions.map((action: Json) => (action === 'edit-accept' ? 'edit' : action)) };
}

const suspension: Projection = {
  1: (recorded) => recorded,
  2: (recorded, { tenant }) => ({ ...recorded, interruptId: bindId(tenant, recorded.interruptId) }),
};

const requested: Projection = {
  1: (recorded, { runId }) => ({
    ...questionBody(1, recorded),
    ...{ runId, nodeId: recorded.nodeId, interruptId: recorded.interruptId },
    requestedAt: time(recorded.requestedAt),
  }),
  2: (recorded) => questionBody(2, recorded),
};

const approvalRequested: Projection = {
  1: (recorded) => {
    const data = dataOf(1, recorded.kind, recorded.data);
    const { artifactId, artifactType, actions, title, approversList, requiredApprovals } = isJsonObject(data)
      ? data
      : {};
    const { nodeId, interruptId } = recorded;
    return defined({
      ...{ nodeId, artifactId, artifactType, actions, interruptId },
      ...{ title, approversList, requiredApprovals },
    });
  },
  2: (recorded) => questionBody(2, recorded),
};

const resolved: Projection = {
  1: ({ nodeId, interruptId, kind, resumeValue, resolvedAt, resolvedBy }) =>
    defined({
      nodeId,
      interruptId,
      kind,
      resumeValue,
      resolvedAt: time(resolvedAt),
      resolvedBy: principalIn(resolvedBy),
    }),
  2: (recorded, { tenant }) => answerBody(recorded, tenant),
};

const received: Projection = {
  1: ({ nodeId, resumeValue }) => {
    const answer = isJsonObject(resumeValue) ? resumeValue : {};
    return defined({ nodeId, ...answer });
  },
  2: (recorded, { tenant }) => answerBody(recorded, tenant),
};

const voted = (decision: 'granted' | 'rejected'): Projection => ({
  1: ({ nodeId, resolvedBy, quorumProgress }) =>
    defined({ gateId: nodeId, principal: principalIn(resolvedBy), quorumProgress }),
  2: (recorded, { tenant }) => answerBody({ ...recorded, decision }, tenant),
});

/** Major 1 has the reason as the caller gave it. Major 2 has it in the answer, because its reasons are short. */
const overridden: Projection = {
  1: ({ nodeId, resolvedBy, quorumProgress, resumeValue }) =>
    defined({
      ...{ gateId: nodeId, principal: principalIn(resolvedBy) },
      reason: isJsonObject(resumeValue) ? resumeValue.feedback : undefined,
      quorumProgress,
    }),
  2: (recorded, { tenant }) => answerBody({ ...recorded, decision: 'overridden' }, tenant),
};

/** Major 2 has one form for every event that reports an answer. */
function answerBody(recorded: Recorded, tenant: string): JsonObject {
  const { nodeId, interruptId, kind, resumeValue, reason, resolvedBy, decision, action } = recorded;
  const subject = isJsonObject(resolvedBy) ? resolvedBy.subject : undefined;
  return defined({
    ...{ nodeId, interruptId: bindId(tenant, interruptId), kind, resumeValue },
    ...{ reason, resolvedBy: subject, decision, action },
  });
}

const PROJECTIONS: ReadonlyMap<string, Projection> = new Map([
  ['node.suspended', suspension],
  ['node.resumed', suspension],
  ['interrupt.requested', requested],
  ['approval.requested', approvalRequested],
  ['clarification.requested', requested],
  ['interrupt.resolved', resolved],
  ['clarification.resolved', resolved],
  ['approval.received', received],
  ['approval.granted', voted('granted')],
  ['approval.rejected', voted('rejected')],
  ['approval.overridden', overridden],
]);

/** The types of the events whose payload has a form of its own in each major. */
export const EVENTS_BY_MAJOR: ReadonlySet<string> = new Set(PROJECTIONS.keys());

function principalIn(resolvedBy: Json | undefined): Json | undefined {
  return isJsonObject(resolvedBy) ? resolvedBy.principal : undefined;
}

function time(value: Json | undefined): Json | undefined {
  return typeof value === 'number' ? new Date(value).toISOString() : undefined;
}

function defined(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
