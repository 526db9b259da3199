import type { AttemptPhase, AttemptPhaseName } from '../ports/attempts.ts';

/** Measures the phases of one attempt. */
export interface PhaseClock {
  /** Begins a phase, and ends the one before. */
  readonly begin: (phase: AttemptPhaseName) => void;
  /** Ends the last phase, and returns all of them. */
  end(): readonly AttemptPhase[];
}

/** @param now a monotonic time in ms */
export function phaseClock(now: () => number): PhaseClock {
  const ended: AttemptPhase[] = [];
  let current: { readonly phase: AttemptPhaseName; readonly since: number } | undefined;

  return {
    begin(phase) {
      endCurrent();
      // A name with many addresses has many connections; the first ones show why.
      current = ended.length < MOST_PHASES ? { phase, since: now() } : undefined;
    },
    end() {
      endCurrent();
      return ended;
    },
  };

  function endCurrent(): void {
    if (current === undefined) return;
    const durationMs = Math.round((now() - current.since) * 1000) / 1000;
    ended.push({ phase: current.phase, durationMs });
    current = undefined;
  }
}

const MOST_PHASES = 16;
