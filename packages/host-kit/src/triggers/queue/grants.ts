import type { QueueConnection } from '../../ports/queues.ts';
import type { QueueSource, TriggerRecord } from '../../ports/triggers.ts';

/** The grants of all connections of a host. */
export interface QueueGrants {
  /** Whether a trigger of this tenant and mode may consume the queue. */
  readonly allows: (of: Pick<TriggerRecord, 'tenant' | 'mode'>, queue: QueueSource) => boolean;
}

/**
 * Reads the grants of connections. A queue that is not granted is refused.
 *
 * @throws {TypeError} when two grants name one queue, a grant has no queue, or a prefetch is out of range
 */
export function queueGrants(connections: Readonly<Record<string, QueueConnection>>): QueueGrants {
  const holders = new Map<string, string>();
  for (const [name, { grants, prefetch = DEFAULT_PREFETCH }] of Object.entries(connections)) {
    const place = `triggers.queues.${name}`;
    if (!(Number.isSafeInteger(prefetch) && prefetch >= 1 && prefetch <= MOST_PREFETCH))
      throw new TypeError(`${place}.prefetch: must be a whole number from 1 to ${MOST_PREFETCH}. Leave it out for 10.`);
    for (const { tenant, mode = 'live', queues } of grants) {
      if (queues.length === 0) throw new TypeError(`${place}.grants: ${tenant} has no queue. Remove the grant.`);
      for (const queue of queues) {
        const key = keyOf(name, queue);
        if (holders.has(key))
          throw new TypeError(`${place}.grants: the queue ${queue} is granted twice. Grant it to one tenant and mode.`);
        holders.set(key, holderOf({ tenant, mode }));
      }
    }
  }
  return { allows: (of, { connection, name }) => holders.get(keyOf(connection, name)) === holderOf(of) };
}

/** The default of `QueueConnection.prefetch`. */
export const DEFAULT_PREFETCH = 10;
const MOST_PREFETCH = 1000;

function keyOf(connection: string, queue: string): string {
  return JSON.stringify([connection, queue]);
}

function holderOf({ tenant, mode }: Pick<TriggerRecord, 'tenant' | 'mode'>): string {
  return JSON.stringify([tenant, mode]);
}
