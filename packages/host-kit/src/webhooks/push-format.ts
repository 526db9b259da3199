import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';

/**
 * The format in which a mount pushes the events of one run to a URL. A push is a subscription to that run: it is
 * retried, guarded and shown to operators like any other.
 */
export interface PushFormat {
  /** Renders the body for an event, given the run after it. Called in the transaction that appends the event. */
  render(run: Run, event: RunEvent): Uint8Array;
  /** Makes the headers of an attempt from the secret that the caller gave for the push. */
  headers(secret: string): Record<string, string>;
}

/** The formats by name. The name is stored with each push. */
export type PushFormats = ReadonlyMap<string, PushFormat>;
