import type { Api } from './api.ts';
import type { Caller } from './keys.ts';
import type { Inbox, Scripted } from './receiver/receiver.ts';
import type { Major } from './rule.ts';
import type { Target } from './target.ts';

/** Tools of one check under one major. */
export interface World {
  /** Major under which the check runs. */
  readonly major: Major;
  readonly target: Target;
  /** Client of that major with the main key. */
  readonly api: Api;
  /** Client of that major with another key, or with none. */
  as(caller: Caller): Api;
  /** Client of another major. Default caller: `main`. */
  under(major: Major, caller?: Caller): Api;
  /** Tag of this check's runs and subscriptions, which separates them from those of other checks. */
  readonly tag: string;
  /** Opens an inbox that the host can deliver to. */
  inbox(...answers: readonly Scripted[]): Inbox;
  /** Registers a cleaner, run when the check has ended in any way. The last one runs first. */
  afterwards(clean: (world: World) => Promise<unknown>): void;
  /** Keeps a secret out of the report. */
  conceal(secret: string): void;
  /**
   * Tells the verdict of a check that looks at every answer.
   *
   * @throws {Mismatch} when an answer broke its rule
   */
  witnessed(id: string): void;
  /** Waits for `ms` milliseconds. */
  sleep(ms: number): Promise<void>;
  /**
   * Calls `look` until it returns a value, by default for `target.patienceMs`.
   *
   * @throws {Mismatch} with `expected` when it returns none in time
   */
  eventually<Found>(expected: string, look: () => Promise<Found | undefined>, withinMs?: number): Promise<Found>;
  /** Aborted when the time of the check is up, or the run is interrupted. */
  readonly signal: AbortSignal;
}
