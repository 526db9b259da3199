import type { Major } from './version.ts';

/** The 36 event types that the majors spell differently, as pairs of the name in major 1 and the name in major 2. */
export const EVENT_RENAMES: readonly (readonly [v1: string, v2: string])[] = [
  ['run.resuming', 'run.resume-started'],
  ['run.dead_lettered', 'run.dead-lettered'],
  ['replay.divergedAtRefusal', 'replay.diverged-at-refusal'],
  ['agent.reasoning.delta', 'agent.reasoning-delta'],
  ['agent.promptResolved', 'agent.prompt-resolved'],
  ['model.capability.substituted', 'model.capability-substituted'],
  ['model.capability.insufficient', 'model.capability-insufficient'],
  ['envelope.retry.attempted', 'envelope.retry-attempted'],
  ['envelope.retry.exhausted', 'envelope.retry-exhausted'],
  ['envelope.nlToFormat.engaged', 'envelope.nl-to-format-engaged'],
  ['envelope.recovery.applied', 'envelope.recovery-applied'],
  ['agent.toolCalled', 'agent.tool-called'],
  ['agent.toolReturned', 'agent.tool-returned'],
  ['agent.invocation.started', 'agent.invocation-started'],
  ['agent.invocation.completed', 'agent.invocation-completed'],
  ['deployment.canary.adjusted', 'deployment.canary-adjusted'],
  ['deployment.state.changed', 'deployment.state-changed'],
  ['roster.run.initiated', 'roster.run-initiated'],
  ['tool.session.opened', 'tool.session-opened'],
  ['tool.session.closed', 'tool.session-closed'],
  ['trigger.subscription.state.changed', 'trigger.subscription-state-changed'],
  ['trigger.delivery.attempted', 'trigger.delivery-attempted'],
  ['budget.threshold.crossed', 'budget.threshold-crossed'],
  ['runOrchestrator.decided', 'orchestrator.decided'],
  ['core.dispatch.fanOut', 'dispatch.fanned-out'],
  ['core.dispatch.join', 'dispatch.joined'],
  ['agent.memory.consolidated', 'agent.memory-consolidated'],
  ['core.workflowChain.event', 'workflow-chain.event'],
  ['core.workflowChain.confidence-escalated', 'workflow-chain.confidence-escalated'],
  ['connector.auth_expired', 'connector.auth-expired'],
  ['voice.speech_start', 'voice.speech-start'],
  ['voice.endpoint_candidate', 'voice.endpoint-candidate'],
  ['voice.turn_commit', 'voice.turn-commit'],
  ['voice.synthesis_chunk', 'voice.synthesis-chunk'],
  ['voice.barge_in', 'voice.barge-in'],
  ['compensation.manual_intervention_required', 'compensation.manual-intervention-required'],
];

/**
 * Returns a major's spelling of an event type that is given in the canonical vocabulary, which is the one of major 2.
 * Returns names that both majors spell alike, and vendors' names, unchanged.
 *
 * @example
 * import { eventName } from '@svc/versioning/events';
 *
 * eventName(1, 'run.dead-lettered'); // 'run.dead_lettered'
 */
export function eventName(major: Major, canonical: string): string {
  return FROM_CANONICAL[major].get(canonical) ?? canonical;
}

/**
 * Returns the canonical spelling of a major's event type, or undefined for a spelling that exists only in the other
 * major.
 *
 * @example
 * import { canonicalEventName } from '@svc/versioning/events';
 *
 * canonicalEventName(1, 'run.dead_lettered'); // 'run.dead-lettered'
 */
export function canonicalEventName(major: Major, name: string): string | undefined {
  return TO_CANONICAL[major].get(name) ?? (FOREIGN[major].has(name) ? undefined : name);
}

/** The canonical vocabulary is the one that stores use. */
export { canonicalEventName as storedEventName };

const V1_TO_V2: ReadonlyMap<string, string> = new Map(EVENT_RENAMES);
const V2_TO_V1: ReadonlyMap<string, string> = new Map(EVENT_RENAMES.map(([v1, v2]) => [v2, v1]));
const SAME: ReadonlyMap<string, string> = new Map();

const FROM_CANONICAL: Readonly<Record<Major, ReadonlyMap<string, string>>> = { 1: V2_TO_V1, 2: SAME };
const TO_CANONICAL: Readonly<Record<Major, ReadonlyMap<string, string>>> = { 1: V1_TO_V2, 2: SAME };
const FOREIGN: Readonly<Record<Major, { has(name: string): boolean }>> = { 1: V2_TO_V1, 2: V1_TO_V2 };

// A name on both sides, or twice on one, would make a log unreadable in one of the majors.
const names = new Set(EVENT_RENAMES.flat());
if (names.size !== 2 * EVENT_RENAMES.length) throw new Error('EVENT_RENAMES: repeats a name. Rename one of the two.');
