import { invalid } from '../errors.ts';
import type { EventPosition } from '../ports/events.ts';

/** The form of a position among the events of all runs. Callers send it back as they received it. */
export const POSITION_FORM: RegExp = /^(0|[1-9][0-9]{0,15})-(0|[1-9][0-9]{0,15})$/;

export function positionText({ order, index }: EventPosition): string {
  return `${order}-${index}`;
}

/**
 * @param field the parameter or header that holds the text
 * @throws {HostError} `validation_error` for a text that is no position
 */
export function parsePosition(field: string, text: string): EventPosition {
  const [, order, index] = POSITION_FORM.exec(text) ?? [];
  if (order !== undefined && index !== undefined) return { order: Number(order), index: Number(index) };
  throw invalid({ field, problem: 'must be a cursor that this host has sent' });
}
