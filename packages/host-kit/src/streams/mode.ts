/** What a reader of a run wants to see of it. @see Interface: Discovery document, stream modes */
export const STREAM_MODES = ['values', 'updates', 'messages', 'debug'] as const;

export type StreamMode = (typeof STREAM_MODES)[number];

/** Each mode that shows events. The first of these that admits an event is the one that shows it. */
export const EVENT_MODES = ['messages', 'updates', 'debug'] as const;

export type EventMode = (typeof EVENT_MODES)[number];

/** Whether a mode shows an event, whose type is given in the stored vocabulary. */
export function admits(mode: EventMode, type: string): boolean {
  return ADMITS[mode](type);
}

/**
 * Reads `values`, or a list of the other modes joined by commas.
 *
 * @returns undefined for anything else: a mode that there is not, an empty list, `values` beside others
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
  updates: (type) => UPDATES.has(type) || UPDATE_FAMILIES.some((family) => type.startsWith(family)),
  debug: () => true,
};

/** What moves a run on as its observers see it: not how a node is begun or repeated, and nothing of logs, variables and leases. */
const UPDATES: ReadonlySet<string> = new Set([
  ...['run.started', 'run.completed', 'run.failed', 'run.cancelled', 'run.paused', 'run.resumed'],
  ...['node.completed', 'node.failed', 'node.skipped', 'node.cancelled', 'node.suspended', 'node.dispatched'],
  ...['artifact.created', 'workspace.updated'],
]);
const UPDATE_FAMILIES = ['approval.', 'clarification.', 'interrupt.', 'eval.', 'deployment.'];
