import { storedType } from '../events/event-types.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Store } from '../ports/store.ts';

/**
 * Wraps a store so that logs are read under the names of major 2. Hosts of earlier versions stored the names that
 * engines chose, also those of major 1. The stored events are not changed.
 */
export function withCanonicalLogs(store: Store): Store {
  const { events } = store;
  return {
    ...store,
    events: {
      insert: (added, transaction) => events.insert(added, transaction),
      list: async (run, page) => (await events.list(run, page)).map(underStoredType),
      // Every event with a position was stored under its name of major 2.
      listAll: (tenancy, page) => events.listAll(tenancy, page),
      newest: () => events.newest(),
      removedUpTo: (tenancy) => events.removedUpTo(tenancy),
    },
  };
}

/** Returns an event under its name of major 2. A name that neither major has is unchanged. */
function underStoredType(event: RunEvent): RunEvent {
  const type = storedType(event.type) ?? event.type;
  return type === event.type ? event : { ...event, type };
}
