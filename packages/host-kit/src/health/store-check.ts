import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import type { HealthCheck } from './check.ts';

/**
 * Checks the store by a write of its own: it shows that the writer, or a connection of the pool, is available, and that
 * the disk takes a write.
 */
export function storeCheck(store: Pick<Store, 'probe'>, clock: Clock): () => Promise<HealthCheck> {
  /** The last answer, and its time by the monotonic clock, in ms. */
  let answer: { readonly check: HealthCheck; readonly at: number } | undefined;
  let asking: Promise<HealthCheck> | undefined;
  /** The store has not answered the last question, although its callers may have had `no-answer` long ago. */
  let isOut = false;

  return async () => {
    if (answer !== undefined && clock.monotonic() - answer.at < FRESH_MS) return answer.check;
    if (asking !== undefined) return asking;
    if (isOut) return NO_ANSWER;
    asking = ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };

  async function ask(): Promise<HealthCheck> {
    isOut = true;
    const answered = question().then((check) => {
      isOut = false;
      answer = { check, at: clock.monotonic() };
      return check;
    });
    return inTime(answered);
  }

  async function question(): Promise<HealthCheck> {
    try {
      await store.probe();
      return OK;
    } catch {
      return FAILED;
    }
  }

  function inTime(answered: Promise<HealthCheck>): Promise<HealthCheck> {
    return new Promise((resolve) => {
      const cancel = clock.after(DEADLINE_MS, () => resolve(NO_ANSWER));
      void answered.then((check) => {
        cancel();
        resolve(check);
      });
    });
  }
}

const OK: HealthCheck = { name: 'store', ok: true };
const FAILED: HealthCheck = { name: 'store', ok: false, reason: 'failed' };
const NO_ANSWER: HealthCheck = { name: 'store', ok: false, reason: 'no-answer' };
const FRESH_MS = 1000;
const DEADLINE_MS = 2000;
