import { type SqliteDedupStore, sqliteDedupStore } from '@svc/webhook-verify/dedup/sqlite';
import type { DedupStore } from '@svc/webhook-verify/receive';

let store: SqliteDedupStore | undefined;

/** Opens the file at the first delivery, and not while Next.js builds. */
const opened = () => (store ??= sqliteDedupStore('deliveries.db'));

/** Remembers deliveries in a file. Where there is no lasting disk, as on Vercel, use `postgresDedupStore`. */
export const dedup: DedupStore = {
  claim: (key) => opened().claim(key),
  confirm: (key, token) => opened().confirm(key, token),
  release: (key, token) => opened().release(key, token),
  prolong: (key, token) => opened().prolong(key, token),
};
