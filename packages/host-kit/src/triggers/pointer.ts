import type { Json } from '../json.ts';

/**
 * Returns whether a text is a JSON Pointer of at most 1024 characters and 32 steps.
 *
 * @see RFC 6901, section 3
 */
export function isPointer(text: string): boolean {
  return text.length <= 1024 && /^(?:\/(?:[^/~]|~[01])*){0,32}$/.test(text);
}

/**
 * Returns the value at a place of a document; undefined when the place does not exist. Only own members count, so a document
 * cannot name a member of a prototype.
 *
 * @param pointer a text for which `isPointer` is true
 * @see RFC 6901, section 4
 */
export function valueAt(document: Json, pointer: string): Json | undefined {
  let value: Json | undefined = document;
  for (const step of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    value = Array.isArray(value) ? elementOf(value, name) : memberOf(value, name);
  }
  return value;
}

/** `-` names the element after the last one, which does not exist. */
function elementOf(values: readonly Json[], name: string): Json | undefined {
  return /^(?:0|[1-9][0-9]{0,8})$/.test(name) ? values[Number(name)] : undefined;
}

function memberOf(value: object, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}
