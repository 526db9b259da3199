import type { Json, JsonObject } from '../json.ts';
import type { MappedValue, TriggerMapping } from '../ports/triggers.ts';
import { valueAt } from './pointer.ts';

/** The run that a message starts, or the place of the document that the mapping needs and does not find. */
export type Mapped =
  | { readonly ok: true; readonly workflowId: string; readonly inputs: JsonObject }
  | { readonly ok: false; readonly problem: string };

/**
 * Applies the mapping of a trigger to the document of a message. A pure function: it has no effect and reads no clock.
 *
 * @param mostLength the most characters of JSON that the inputs take from the message: several may name the same place
 */
export function mapped({ workflowId, inputs }: TriggerMapping, document: JsonObject, mostLength: number): Mapped {
  const chosen = workflowOf(workflowId, document);
  if (chosen === undefined) {
    const place = typeof workflowId === 'string' ? '' : workflowId.pointer;
    return { ok: false, problem: `mapping.workflowId: no case fits the value at ${JSON.stringify(place)}` };
  }
  const values: (readonly [string, Json])[] = [];
  let length = 0;
  for (const [name, source] of Object.entries(inputs)) {
    const value = inputOf(source, document);
    if (value === undefined) {
      const place = 'pointer' in source ? source.pointer : '';
      return {
        ok: false,
        problem: `mapping.inputs.${shown(name)}: the message has no value at ${JSON.stringify(place)}`,
      };
    }
    if ('pointer' in source) length += JSON.stringify(value).length;
    if (length > mostLength) {
      const problem = `mapping.inputs.${shown(name)}: the inputs take more than ${mostLength} characters from the message`;
      return { ok: false, problem };
    }
    values.push([name, value]);
  }
  // An own member also for the name `__proto__`.
  return { ok: true, workflowId: chosen, inputs: Object.fromEntries(values) };
}

/** A store of text refuses some characters that a name may have, such as U+0000. */
function shown(name: string): string {
  return JSON.stringify(name).slice(1, -1);
}

function workflowOf(workflowId: TriggerMapping['workflowId'], document: JsonObject): string | undefined {
  if (typeof workflowId === 'string') return workflowId;
  const value = valueAt(document, workflowId.pointer);
  if (typeof value !== 'string' || !Object.hasOwn(workflowId.cases, value)) return undefined;
  return workflowId.cases[value];
}

function inputOf(source: MappedValue, document: JsonObject): Json | undefined {
  if ('constant' in source) return source.constant;
  const found = valueAt(document, source.pointer);
  // Null is a value.
  return found === undefined ? source.default : found;
}
