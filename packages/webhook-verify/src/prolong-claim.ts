import type { After } from './after-timeout.ts';
import type { DedupStore } from './dedup/dedup.ts';

/**
 * Prolongs a claim every third of its length, until the returned function is called or the claim no longer holds the
 * delivery. A failure is reported, and the next third tries again.
 */
export function prolongClaim({ dedup, key, token, claimSeconds = 0, after, failed }: ProlongedClaim): () => void {
  const prolong = dedup.prolong?.bind(dedup);
  let isOver = false;
  let cancel = (): void => {};
  if (prolong !== undefined && claimSeconds > 0) plan(prolong);

  return () => {
    isOver = true;
    cancel();
  };

  function plan(prolong: Prolong): void {
    cancel = after(Math.min((claimSeconds * 1000) / 3, LONGEST_TIMER_MS), () => void run(prolong));
  }

  async function run(prolong: Prolong): Promise<void> {
    try {
      if ((await prolong(key, token)) === false) return;
    } catch (error) {
      failed(error);
    }
    if (!isOver) plan(prolong);
  }
}

interface ProlongedClaim {
  readonly dedup: DedupStore;
  readonly key: string;
  readonly token: string;
  readonly claimSeconds: number | undefined;
  readonly after: After;
  readonly failed: (error: unknown) => void;
}

type Prolong = NonNullable<DedupStore['prolong']>;

/** A longer timer would run at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
