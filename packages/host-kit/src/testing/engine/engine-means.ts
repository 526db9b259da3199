import type { Clock } from '../../ports/clock.ts';

/** The means of an engine under test. */
export interface EngineMeans {
  /** Stands still until the contract moves it. The host uses it, too. */
  readonly clock: Clock;
}
