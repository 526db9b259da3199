import type { TurnEnd } from './turn-end.ts';

/** The end of a node by one of its events; undefined: the node goes on. */
export function nodeEnd(type: string, payload: unknown): TurnEnd | undefined {
  switch (type) {
    case 'node.completed':
    case 'node.skipped':
      return { status: 'completed' };
    case 'node.retried':
      return { status: 'retried' };
    case 'node.failed':
      return { status: 'failed', ...codeOf(payload) };
    case 'node.cancelled':
      return { left: 'cancelled' };
    default:
      return undefined;
  }
}

/** The code of a failure. Its message may hold a value of the run. */
function codeOf(payload: unknown): { readonly code?: string } {
  if (typeof payload !== 'object' || payload === null || !('error' in payload)) return {};
  const { error } = payload;
  if (typeof error !== 'object' || error === null || !('code' in error)) return {};
  return { code: String(error.code) };
}
