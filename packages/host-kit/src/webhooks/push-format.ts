import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';

/**
 * How a mount words what is pushed to a URL about one run. A push is a subscription to that run: as durable, as guarded, and as visible to an
 * operator as any other.
 */
export interface PushFormat {
  /** The body for an event, from the run as it stands after it. Fixed in the transaction that appends the event. */
  render(run: Run, event: RunEvent): Uint8Array;
  /** The headers of an attempt, from the secret that the push was asked for with. */
  headers(secret: string): Record<string, string>;
}

/** Formats by their names, which are stored. */
export type PushFormats = ReadonlyMap<string, PushFormat>;
