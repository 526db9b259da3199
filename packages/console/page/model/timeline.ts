import type { Json, RunEvent } from '../data/shapes.ts';

/** One execution of a node on the timeline of its run. Times are in ms since the epoch. */
export interface Bar {
  readonly nodeId: string;
  readonly from: number;
  /** Undefined: it goes on. */
  readonly to: number | undefined;
  readonly outcome: 'running' | 'completed' | 'failed' | 'waiting' | 'cancelled';
}

/** The nodes of a run over time. */
export interface Timeline {
  readonly from: number;
  readonly to: number;
  /** One lane a node, in the order of their first starts. */
  readonly lanes: readonly { readonly nodeId: string; readonly bars: readonly Bar[] }[];
}

const ENDS: Readonly<Record<string, Bar['outcome']>> = {
  'node.completed': 'completed',
  'node.failed': 'failed',
  'node.cancelled': 'cancelled',
};

/**
 * Makes the timeline of a run from its log. A bar that is open ends with the run, and otherwise with now.
 *
 * @param events in their order
 */
export function timelineOf(events: readonly RunEvent[], now: number): Timeline | undefined {
  const [first] = events;
  const last = events.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const isOver = /^run\.(?:completed|failed|cancelled)$/.test(last.type);
  const lanes = new Map<string, Bar[]>();
  for (const event of events) {
    const { nodeId } = event;
    if (nodeId === undefined) continue;
    const bars = lanes.get(nodeId) ?? [];
    lanes.set(nodeId, afterEvent(bars, nodeId, event));
  }
  const end = Date.parse(last.timestamp);
  return {
    from: Date.parse(first.timestamp),
    to: isOver ? end : Math.max(now, end),
    lanes: [...lanes]
      .filter(([, bars]) => bars.length > 0)
      .map(([nodeId, bars]) => ({ nodeId, bars: closed(bars, isOver ? end : undefined) })),
  };
}

function afterEvent(bars: Bar[], nodeId: string, { type, timestamp }: RunEvent): Bar[] {
  const at = Date.parse(timestamp);
  if (type === 'node.started') return [...bars, { nodeId, from: at, to: undefined, outcome: 'running' }];
  const open = bars.at(-1);
  if (open === undefined || open.to !== undefined) return bars;
  const outcome = ENDS[type];
  if (outcome !== undefined) return [...bars.slice(0, -1), { ...open, to: at, outcome }];
  if (type === 'node.suspended')
    return [...bars.slice(0, -1), { ...open, to: at }, { nodeId, from: at, to: undefined, outcome: 'waiting' }];
  if (type === 'node.resumed')
    return [...bars.slice(0, -1), { ...open, to: at }, { nodeId, from: at, to: undefined, outcome: 'running' }];
  return bars;
}

function closed(bars: readonly Bar[], end: number | undefined): readonly Bar[] {
  return end === undefined ? bars : bars.map((bar) => ({ ...bar, to: bar.to ?? end }));
}

/** The question that a run waits with. */
export interface Question {
  readonly nodeId: string;
  readonly kind: string;
  readonly data: { readonly [name: string]: Json };
}

const ASKED = new Set(['interrupt.requested', 'approval.requested', 'clarification.requested']);

/** Finds the question that a node of a run waits with: the last one that it asked. */
export function questionOf(events: readonly RunEvent[], currentNodeId: string | undefined): Question | undefined {
  if (currentNodeId === undefined) return undefined;
  const asked = events.findLast(({ type, nodeId }) => ASKED.has(type) && nodeId === currentNodeId);
  if (asked === undefined || !isObject(asked.payload)) return undefined;
  const { kind, data } = asked.payload;
  const fallback = asked.type === 'interrupt.requested' ? 'external-event' : (asked.type.split('.')[0] ?? '');
  return { nodeId: currentNodeId, kind: typeof kind === 'string' ? kind : fallback, data: isObject(data) ? data : {} };
}

/** Returns whether a value is a JSON object. */
export function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
