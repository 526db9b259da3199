import { EVENT_NAMES_V1, EVENT_NAMES_V2, type EventTypeV1, type EventTypeV2 } from './names.ts';

export type { EventTypeV1, EventTypeV2 } from './names.ts';
export type {
  AnswerPayload,
  ApprovalAnswer,
  ApprovalRequest,
  EachMajor,
  EventPayloads,
  NodeLeft,
  OverridePayload,
  OwnerSubject,
  PlacedQuestionPayload,
  QuestionPayload,
  ResolutionPayload,
  RunDeadLettered,
  RunError,
  RunOwner,
  RunStarted,
  TriggerAttempted,
  TriggerStateChanged,
  VotePayload,
} from './payloads.ts';

/** Every event type of major 1. */
export const EVENT_TYPES_V1: ReadonlySet<string> = new Set<EventTypeV1>(EVENT_NAMES_V1);
/** Every event type of major 2. */
export const EVENT_TYPES_V2: ReadonlySet<string> = new Set<EventTypeV2>(EVENT_NAMES_V2);

/**
 * Whether a name is an event type of major 1.
 *
 * @example
 * import { isEventTypeV1 } from '@svc/webhook-verify/events';
 *
 * console.log(isEventTypeV1('run.dead_lettered')); // true
 */
export function isEventTypeV1(name: string): name is EventTypeV1 {
  return EVENT_TYPES_V1.has(name);
}

/**
 * Whether a name is an event type of major 2.
 *
 * @example
 * import { isEventTypeV2 } from '@svc/webhook-verify/events';
 *
 * console.log(isEventTypeV2('run.dead-lettered')); // true
 */
export function isEventTypeV2(name: string): name is EventTypeV2 {
  return EVENT_TYPES_V2.has(name);
}
