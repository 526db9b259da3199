import type { JsonObject } from '../json.ts';
import type { EngineRefusal, WorkflowEngine } from '../ports/engine.ts';

/**
 * Asks an engine whether it refuses a run.
 *
 * @throws {TypeError} for an answer that is neither a boolean nor a refusal. The promise of an async function is one: the
 *   caller does not await it, so a refusal in it would be lost
 */
export function engineRefusal(
  engine: Pick<WorkflowEngine, 'accepts'>,
  workflowId: string,
  inputs: JsonObject,
): EngineRefusal | undefined {
  if (engine.accepts === undefined) return undefined;
  const answer: unknown = engine.accepts(workflowId, inputs);
  if (answer === true) return undefined;
  if (answer === false) return UNKNOWN_WORKFLOW;
  if (isRefusal(answer)) return answer;
  // A rejection without a handler would end the process.
  if (answer instanceof Promise) answer.catch(() => {});
  throw new TypeError(
    `engine.accepts: returned ${formOf(answer)}. Return true, false, or { field, problem } with two texts, without async.`,
  );
}

const UNKNOWN_WORKFLOW: EngineRefusal = { field: 'workflowId', problem: 'is not a workflow of this host' };

function isRefusal(answer: unknown): answer is EngineRefusal {
  if (typeof answer !== 'object' || answer === null || !('field' in answer) || !('problem' in answer)) return false;
  return isText(answer.field) && isText(answer.problem);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** Names the form alone: the answer may quote the inputs. */
function formOf(answer: unknown): string {
  if (answer === null || answer === undefined) return String(answer);
  if (typeof answer !== 'object') return `a ${typeof answer}`;
  return 'then' in answer ? 'a promise' : 'an object of another form';
}
