import type { JsonObject } from '../json.ts';
import type { EngineRefusal, WorkflowEngine } from '../ports/engine.ts';

/**
 * Asks an engine whether it refuses a run.
 *
 * @throws {TypeError} for an answer that is neither a refusal nor undefined. The promise of an async function is one: the
 *   caller does not await it, so a refusal in it would be lost
 */
export function engineRefusal(
  engine: Pick<WorkflowEngine, 'refuse'>,
  workflowId: string,
  inputs: JsonObject,
): EngineRefusal | undefined {
  const answer: unknown = engine.refuse(workflowId, inputs);
  if (answer === undefined) return undefined;
  if (isRefusal(answer)) return answer;
  // A rejection without a handler would end the process.
  if (answer instanceof Promise) answer.catch(() => {});
  throw new TypeError(
    `${nameOf(engine)}.refuse: returned ${formOf(answer)}. Return undefined, or { field, problem } with two texts, without async.`,
  );
}

function isRefusal(answer: unknown): answer is EngineRefusal {
  if (typeof answer !== 'object' || answer === null || !('field' in answer) || !('problem' in answer)) return false;
  return isText(answer.field) && isText(answer.problem);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** Names the form alone: the answer may quote the inputs. */
function formOf(answer: unknown): string {
  if (answer === null) return 'null';
  if (typeof answer !== 'object') return `a ${typeof answer}`;
  return 'then' in answer ? 'a promise' : 'an object of another form';
}

/** The class of an engine is its only name. */
function nameOf(engine: object): string {
  const { name } = engine.constructor ?? Object;
  return name === '' || name === 'Object' ? 'engine' : name;
}
