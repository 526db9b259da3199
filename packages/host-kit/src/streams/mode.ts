import { EVENT_TYPES } from '../events/event-types.ts';

/** The modes in which a run can be streamed. @see Interface: Discovery document, stream modes */
export const STREAM_MODES = ['values', 'updates', 'messages', 'debug'] as const;

export type StreamMode = (typeof STREAM_MODES)[number];

/** The modes that show events. When several are asked for, the first of these that admits an event shows it. */
const EVENT_MODES = ['messages', 'updates', 'debug'] as const;

export type EventMode = (typeof EVENT_MODES)[number];

/** Whether a mode shows an event. The type is one of the stored vocabulary, which is major 2's. */
export function admits(mode: EventMode, type: string): boolean {
  return ADMITS[mode](type);
}

/**
 * Reads `values`, or a list of the other modes joined by commas.
 *
 * @returns the modes, or undefined for an unknown mode, an empty list, and `values` beside other modes
 * @example
 * parseStreamMode('updates,messages'); // ['updates', 'messages']
 */
export function parseStreamMode(text: string): 'values' | readonly EventMode[] | undefined {
  if (text === 'values') return 'values';
  const named = text.split(',');
  return named.every(isEventMode) ? EVENT_MODES.filter((mode) => named.includes(mode)) : undefined;
}

function isEventMode(name: string): name is EventMode {
  return EVENT_MODES.some((mode) => mode === name);
}

const ADMITS: Readonly<Record<EventMode, (type: string) => boolean>> = {
  messages: (type) => type === 'output.chunk',
  updates: (type) => EVENT_TYPES.get(type)?.isUpdate === true,
  debug: () => true,
};
