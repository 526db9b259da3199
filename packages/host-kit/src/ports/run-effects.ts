import type { Json } from '../json.ts';

/** The identity of an effect, the same in every attempt to make it. */
export interface EffectRequest {
  /** The node that makes the effect. */
  readonly nodeId: string;
  /**
   * The provider and its operation, such as `acme-pay:charge`. Callers see it in the ledger. 1 to 128 characters of
   * `A-Z a-z 0-9 . _ : / -`, a letter or digit first.
   */
  readonly provider: string;
  /**
   * The identity of a business operation, such as the number of an order, or the place of the effect in its node: 0 for
   * the first effect that the node has on the provider, 1 for the second.
   *
   * An effect with a `key` is made once in the workspace, whichever run asks. One with an `ordinal` is made once in its
   * run. `key` has up to 1024 characters; callers do not see it.
   */
  readonly identity: { readonly key: string } | { readonly ordinal: number };
  /**
   * True: the provider recognises `effectId` and makes an effect of the same id once. An attempt with an unknown outcome
   * is then repeated. Default: false, and the call rejects with {@link EffectUnsettled}.
   */
  readonly isRepeatable?: boolean;
}

/** An attempt to make an effect, as `perform` gets it. */
export interface EffectAttempt {
  /** The id of the effect, the same in every attempt. Send it as the provider's idempotency key. */
  readonly effectId: string;
  /** True: an earlier attempt has an unknown outcome, so the effect may have been made. */
  readonly isRepeat: boolean;
  /** Aborts when the engine has to leave the run. */
  readonly signal: AbortSignal;
}

/**
 * Makes an effect of a run once.
 *
 * @see Execution.effect
 */
export type RunEffect = <Result extends Json>(
  request: EffectRequest,
  perform: (attempt: EffectAttempt) => Promise<Result>,
) => Promise<Result>;

/**
 * Thrown by `perform` when the effect was certainly not made, for example because the provider rejected it. A later call
 * tries again.
 *
 * @example
 * if (response.status === 402) throw new EffectNotMade('The card was declined.');
 */
export class EffectNotMade extends Error {
  override readonly name = 'EffectNotMade';
}

/**
 * The rejection of a call for an effect that was not made by this call, and must not be made now.
 *
 * @example
 * const receipt = await effect(order, perform).catch((error: unknown) => {
 *   if (error instanceof EffectUnsettled && error.state === 'escaped') return askThePerson(order);
 *   throw error;
 * });
 */
export class EffectUnsettled extends Error {
  override readonly name = 'EffectUnsettled';
  /** `claimed`: another run is making the effect now. `escaped`: it is unknown whether an earlier attempt made it. */
  readonly state: 'claimed' | 'escaped';
  readonly effectId: string;

  constructor(state: 'claimed' | 'escaped', effectId: string) {
    super(
      state === 'claimed'
        ? 'Another run is making this effect now. Ask again later.'
        : 'It is unknown whether an earlier attempt made this effect. Ask the provider, or set isRepeatable.',
    );
    this.state = state;
    this.effectId = effectId;
  }
}
