import type { FetchInit } from '@svc/egress-guard/fetch';
import type { Execution } from '../ports/engine.ts';
import type { DrivenRun } from './driven-run.ts';

/** Makes the `fetch` of a run: a guarded one that ends when the run is left. A replay has no effects, so it has none. */
export function runFetch(driven: DrivenRun, guarded: GuardedCall, isReplay: boolean): Execution['fetch'] {
  return async (url, init = {}) => {
    if (isReplay) {
      throw new TypeError('fetch: a replay calls nothing. Call it in a node, which a replay does not execute.');
    }
    if (driven.left !== undefined) throw driven.left;
    const signals = [driven.signal, ...(init.signal === undefined ? [] : [init.signal])];
    try {
      return await guarded(url, { ...init, signal: AbortSignal.any(signals) });
    } catch (error) {
      throw driven.left ?? error;
    }
  };
}

/** A guarded fetch, without the end of its connections. */
export type GuardedCall = (url: string | URL, init?: FetchInit) => Promise<Response>;
