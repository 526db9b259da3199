import type { JsonObject } from '../../json.ts';
import type { EngineEvent } from '../../ports/engine.ts';

/** The kind of a step, as its events tell it. */
export interface StepKind {
  readonly typeId: string;
  readonly isCompensable?: boolean;
  /** The step that this one undoes. */
  readonly undoes?: string;
}

export const PLAIN: StepKind = { typeId: 'steps.step' };
export const COMPENSABLE: StepKind = { ...PLAIN, isCompensable: true };

/** The kinds by their type, in the words of an error. */
export const KINDS: Readonly<Record<string, string>> = {
  'steps.step': 'a step',
  'steps.sleep': 'a sleep',
  'steps.question': 'a question',
  'steps.event': 'a wait for an event',
  'steps.patch': 'a patch',
  'steps.child': 'a child run',
};

/** The event of a compensation beside that of its node; none for another step. Before it, so that a replay copies both. */
export function compensating(type: string, nodeId: string, { undoes }: StepKind, members: JsonObject): EngineEvent[] {
  return undoes === undefined ? [] : [{ type, nodeId, payload: { nodeId: undoes, ...members } }];
}
