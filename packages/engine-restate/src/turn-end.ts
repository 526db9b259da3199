import type { LeaveReason } from '@svc/host-kit';

/** The end of a turn or node as Restate stores it: no value of the run is in it. */
export type TurnEnd =
  | { readonly status: 'completed' }
  | { readonly status: 'retried' }
  | { readonly status: 'failed'; readonly code?: string }
  /** The turn was left, and the run may go on in another one. */
  | { readonly left: LeaveReason };
