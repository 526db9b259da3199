import { factAboutKey } from '../audit/fact.ts';
import type { KeyParts } from './key-parts.ts';

/** Writes the audit fact of each key that has expired. One round of a periodic task. */
export function noteExpiries({ store, clock, recordAudit }: KeyParts): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    while (!signal.aborted) {
      const due = await store.apiKeys.unnotedExpiries(clock.now(), BATCH);
      for (const key of due) {
        await store.transaction(async (transaction) => {
          if (!(await store.apiKeys.noteExpiry(key, transaction))) return;
          await recordAudit(factAboutKey(key, { action: 'key.expired', at: key.expiresAt ?? 0 }), transaction);
        });
      }
      if (due.length < BATCH) return;
    }
  };
}

const BATCH = 100;
