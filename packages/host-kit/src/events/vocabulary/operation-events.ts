import { bindableId } from '../members.ts';
import { closed, flag, oneOf, optional, text, whole } from '../shape.ts';
import { byId, type EventEntry } from './event-entry.ts';

/** The event types of what surrounds runs: triggers, budgets, deployments, evaluations, connectors, compensations. */
export const OPERATION_EVENTS = {
  'eval.started': { text: 'An evaluation began.', isUpdate: true },
  'eval.scored': { text: 'A case of an evaluation was scored.', isUpdate: true },
  'eval.completed': { text: 'An evaluation ended.', isUpdate: true },
  'deployment.promoted': { text: 'A deployment was promoted.', isUpdate: true },
  'deployment.rolled-back': { text: 'A deployment was rolled back.', isUpdate: true },
  'deployment.canary-adjusted': {
    nameInMajor1: 'deployment.canary.adjusted',
    text: 'The share of a canary deployment changed.',
    isUpdate: true,
  },
  'deployment.state-changed': {
    nameInMajor1: 'deployment.state.changed',
    text: 'The state of a deployment changed.',
    isUpdate: true,
  },
  'egress.decided': { text: 'A request to the outside was allowed or denied.' },
  'trigger.subscription-state-changed': {
    nameInMajor1: 'trigger.subscription.state.changed',
    text: 'The state of a trigger changed.',
    payload: closed({
      subscriptionId: optional(text()),
      source: optional(text()),
      fromState: optional(text()),
      toState: optional(text()),
      reason: optional(
        oneOf(
          ...(['retry-exhausted', 'operator-paused', 'signature-invalid'] as const),
          ...(['backpressure', 'source-removed', 'provenance-unevaluable'] as const),
        ),
      ),
    }),
    example: { subscriptionId: 'trg_orders', source: 'webhook', fromState: 'active', toState: 'paused' },
  },
  'trigger.delivery-attempted': {
    nameInMajor1: 'trigger.delivery.attempted',
    text: 'An inbound event of a trigger was attempted.',
    ...byId(
      (runId) => ({
        subscriptionId: optional(text()),
        dedupKey: optional(text()),
        attempt: optional(whole(0)),
        outcome: optional(oneOf('delivered', 'retrying', 'dead-lettered')),
        runId: optional(runId),
      }),
      bindableId,
    ),
    example: { subscriptionId: 'trg_orders', dedupKey: 'order-42', attempt: 1, outcome: 'delivered' },
    runIds: ['runId'],
  },
  'budget.reserved': { text: 'A part of a budget was reserved.' },
  'budget.consumed': { text: 'A part of a budget was consumed.' },
  'budget.threshold-crossed': { nameInMajor1: 'budget.threshold.crossed', text: 'A budget crossed a threshold.' },
  'budget.exhausted': { text: 'A budget is used up.' },
  'connector.authorized': { text: 'A connector was authorized.' },
  'connector.auth-expired': {
    nameInMajor1: 'connector.auth_expired',
    text: 'The authorization of a connector expired.',
  },
  'authorization.decided': {
    text: 'An action was allowed or denied by role.',
    recordedBy: 'roles-and-engine',
    payload: closed({
      principal: text(),
      action: text({ minLength: 1 }),
      resource: text(),
      allowed: flag,
      reason: optional(text()),
    }),
    example: { principal: 'p_7f3a', action: 'runs.create', resource: 'publish', allowed: true, reason: 'role' },
  },
  'import.applied': { text: 'An import was applied.' },
  'compensation.requested': { text: 'The compensation of a run was requested.' },
  'compensation.started': { text: 'A compensation began.' },
  'compensation.completed': { text: 'A compensation ended.' },
  'compensation.failed': { text: 'A compensation failed.' },
  'compensation.paused': { text: 'A compensation was paused.' },
  'compensation.manual-intervention-required': {
    nameInMajor1: 'compensation.manual_intervention_required',
    text: 'A compensation needs a person.',
  },
} as const satisfies Readonly<Record<string, EventEntry>>;
