import type { Json } from '../json.ts';
import { valueAt } from './pointer.ts';

/**
 * Returns the identity that a content names: a text, or a number that JavaScript reads without a loss. Two ids of 20 digits could
 * become one number, and the second message would be lost as a repetition. Undefined: it names none.
 *
 * @param pointer undefined: none is named
 */
export function identityAt(content: Json, pointer: string | undefined): string | undefined {
  const value = pointer === undefined ? undefined : valueAt(content, pointer);
  if (typeof value === 'string') return value === '' ? undefined : value;
  return Number.isSafeInteger(value) ? String(value) : undefined;
}
