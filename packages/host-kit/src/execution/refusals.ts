import type { Run } from '../ports/runs.ts';

/**
 * Counts how often the log refused the next event of a run, so that a run that can never go on fails instead of being
 * retried for ever.
 */
export class Refusals {
  /** For each run the sequence of the refused event, and how often it was refused in a row. */
  readonly #refused = new Map<string, { readonly sequence: number; readonly times: number }>();

  note(runId: string, sequence: number): void {
    const before = this.#refused.get(runId);
    this.#refused.set(runId, { sequence, times: before?.sequence === sequence ? before.times + 1 : 1 });
  }

  forget(runId: string): void {
    this.#refused.delete(runId);
  }

  /** Whether the next event of the run was refused five times in a row. */
  areTooMany({ runId, lastSequence }: Run): boolean {
    const refused = this.#refused.get(runId);
    return refused !== undefined && refused.times >= MOST_REFUSALS && refused.sequence === lastSequence + 1;
  }
}

const MOST_REFUSALS = 5;
