import type { Json } from '../json.ts';
import type { Run } from './runs.ts';
import type { Transaction } from './transaction.ts';

/**
 * The origin of an effect's id: the identity of a business operation, such as an order, or the place of the effect in
 * its run.
 */
export type EffectKeying = 'business-identity' | 'activity-recipe';

/**
 * The state of an effect. `claimed`: it is being made, or the host died while it was made. `completed`: it was made.
 * `released`: it was certainly not made, and may be tried again. `escaped`: it is unknown whether it was made.
 */
export type EffectState = 'claimed' | 'completed' | 'released' | 'escaped';

/** An effect outside of the host, such as a payment, with the attempt that made it or tries to. */
export interface Effect {
  /** Derived from the identity of the effect and its place: equal for every attempt, unique among all tenants. */
  readonly effectId: string;
  readonly keying: EffectKeying;
  /** The engine's name for the provider and the operation, such as `acme-pay:charge`. */
  readonly providerKey: string;
  readonly state: EffectState;
  /** The time of the last change of `state`, in ms since the epoch. */
  readonly at: number;
  /** The id of the newest attempt to make the effect. Only its outcome is recorded. */
  readonly invocationId: string;
  /** The run that made the newest attempt. */
  readonly runId: string;
  /** The epoch of that run's execution. */
  readonly epoch: number;
  /** The node that made the newest attempt. */
  readonly nodeId: string;
  /** The attempt of that node, from 0. */
  readonly attempt: number;
  /** The result of a completed effect. No response shows it. */
  readonly result?: Json;
}

/** An effect as the ledger of a run lists it: without its result. */
export type ListedEffect = Omit<Effect, 'result'>;

/** A run that asked for an effect, whether it made the effect or got the stored result. */
export interface EffectUse extends Pick<Effect, 'effectId' | 'runId' | 'nodeId' | 'attempt'> {
  /** In ms since the epoch. */
  readonly at: number;
}

/** The ledger of effects. */
export interface EffectStore {
  /** Returns an effect, or undefined when it was never attempted. */
  read(effectId: string): Promise<Effect | undefined>;
  /** Does the same in a transaction. Until it ends, other calls for the same id wait, also while there is no effect. */
  readForChange(effectId: string, transaction: Transaction): Promise<Effect | undefined>;
  /** Inserts or replaces an effect. */
  save(effect: Effect, transaction: Transaction): Promise<void>;
  /** Records that a run asked for a stored effect. Returns false, and changes nothing, when the run had asked before. */
  addUse(use: EffectUse, transaction: Transaction): Promise<boolean>;
  /**
   * Returns up to `limit` effects that a run asked for, in the order in which it first did. An effect that another run
   * attempted last has the `nodeId` and `attempt` of this run's use. Results are not read.
   */
  list(run: Pick<Run, 'runId'>, limit: number): Promise<readonly ListedEffect[]>;
  /**
   * Deletes up to `limit` effects that have not changed since `before`, with their uses.
   *
   * @param before in ms since the epoch
   * @returns the number of deleted effects
   */
  sweep(before: number, limit: number): Promise<number>;
}
