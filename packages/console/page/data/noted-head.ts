import { session } from './api.ts';

/** The head of the audit log that this browser has verified last, with the key that it has verified it with. */
export interface EarlierNote {
  readonly note: string;
  readonly publicKey: string;
}

/**
 * Reads the last verified head of this host. It is no secret and no credential, and must outlive the tab: only so does a later
 * visit notice that the log was cut.
 *
 * @returns undefined when there is none; `unreadable` when something else is stored, or the browser stores nothing
 */
export function earlierNote(): EarlierNote | 'unreadable' | undefined {
  try {
    const text = localStorage.getItem(name());
    if (text === null) return undefined;
    const stored: unknown = JSON.parse(text);
    if (typeof stored !== 'object' || stored === null || !('note' in stored && 'publicKey' in stored))
      return 'unreadable';
    const { note, publicKey } = stored;
    return typeof note === 'string' && typeof publicKey === 'string' ? { note, publicKey } : 'unreadable';
  } catch {
    return 'unreadable';
  }
}

/** Stores a head that was verified. Returns false when the browser stores nothing. */
export function keepNote(verified: EarlierNote): boolean {
  try {
    localStorage.setItem(name(), JSON.stringify(verified));
    return true;
  } catch {
    return false;
  }
}

/** Removes the stored head. */
export function forgetNote(): void {
  try {
    localStorage.removeItem(name());
  } catch {
    // Nothing is stored where nothing can be removed.
  }
}

function name(): string {
  return `svc-audit-head:${session.value?.own ?? ''}`;
}
