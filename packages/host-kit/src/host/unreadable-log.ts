import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { UnreadableKind, UnreadableRecord } from '../ports/unreadable-record.ts';

/** Logs each record that the store passed over, once. */
export function logUnreadable({ unreadable }: Pick<Store, 'unreadable'>, log: Log): void {
  unreadable?.follow((record) => {
    log({ level: 'error', event: `${record.kind}.unreadable`, ...idOf(record), error: record.message });
  });
}

function idOf({ kind, id }: UnreadableRecord): Readonly<Record<string, string>> {
  return { [ID_NAMES[kind]]: id };
}

const ID_NAMES: Readonly<Record<UnreadableKind, string>> = {
  run: 'runId',
  subscription: 'webhookId',
  'api-key': 'keyId',
};
