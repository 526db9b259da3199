import { isJsonObject, type Json, type JsonObject } from '../../json.ts';
import type { ReplayedNode } from '../../ports/engine.ts';
import type { InterruptAnswer } from '../../ports/interrupts.ts';
import { recordedFailure } from './child-failure.ts';

/**
 * Returns the recorded outputs of a step.
 *
 * @throws {StepFailure} when the step has failed
 */
export function outputsOf(name: string, outcome: ReplayedNode): JsonObject {
  if (outcome.status === 'completed') return outcome.outputs;
  throw recordedFailure(name, outcome);
}

/** Returns the outputs of a step: its result under one name, because outputs are an object. */
export function resultOf(name: string, result: unknown): { readonly result?: Json } {
  if (result === undefined) return {};
  let text: string | undefined;
  try {
    text = JSON.stringify(result);
  } catch (error) {
    throw new TypeError(`step ${name}: its result cannot be stored as JSON. Return plain data.`, { cause: error });
  }
  if (text === undefined) throw new TypeError(`step ${name}: its result cannot be stored as JSON. Return plain data.`);
  return { result: JSON.parse(text) };
}

/** Returns the inputs of a child, as JSON stores them. */
export function inputsOf(name: string, inputs: unknown): JsonObject {
  const { result } = resultOf(name, inputs);
  if (!isJsonObject(result)) throw new TypeError(`child ${name}: its inputs are no object. Pass an object.`);
  return result;
}

/** Returns the answer that the outputs of a question hold. */
export function answerOf({ resumeValue = null, decision, isTimeout, isOverride }: JsonObject): InterruptAnswer {
  return {
    ...{ resumeValue, isTimeout: isTimeout === true, isOverride: isOverride === true },
    ...((decision === 'granted' || decision === 'rejected') && { decision }),
  };
}
