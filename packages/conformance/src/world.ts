import type { Api } from './api.ts';
import type { Caller } from './keys.ts';
import type { Inbox, Scripted } from './receiver/receiver.ts';
import type { Major } from './rule.ts';
import type { Target } from './target.ts';

/** What one check works with. */
export interface World {
  /** The major that the check is run under. */
  readonly major: Major;
  readonly target: Target;
  /** That major, called with the main key. */
  readonly api: Api;
  /** That major, called by somebody else. */
  as(caller: Caller): Api;
  /** Another major, called with the main key or by somebody else. */
  under(major: Major, caller?: Caller): Api;
  /** Of the runs and subscriptions of this check, to keep those of others apart. */
  readonly tag: string;
  /** A new address that the host can deliver to. */
  inbox(...answers: readonly Scripted[]): Inbox;
  /** Does something when the check is over, whatever its end. The last is done first. */
  afterwards(clean: (world: World) => Promise<unknown>): void;
  /** What must not be shown in a report. */
  conceal(secret: string): void;
  /** Waits. */
  pause(ms: number): Promise<void>;
  /** Looks again and again until there is something, and fails with what was expected when there is nothing in time. */
  eventually<Found>(expected: string, look: () => Promise<Found | undefined>, withinMs?: number): Promise<Found>;
  /** Ends what the check does when its time is up. */
  readonly signal: AbortSignal;
}
