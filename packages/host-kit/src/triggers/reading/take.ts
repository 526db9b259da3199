import { mintId } from '@svc/versioning/ids';
import type { ReadSource } from '../../ports/triggers.ts';
import { type IncomingMessage, takeMessage } from '../receive.ts';
import type { StartOptions } from '../start.ts';
import type { HeldPlace } from './held-place.ts';

/** A message of a source that the host reads, with the cursor behind it. */
export interface PlacedMessage extends Omit<IncomingMessage, 'deliveryId' | 'also'> {
  /** Undefined: the message does not move the cursor. */
  readonly cursor: string | undefined;
}

/** Too many messages of the trigger wait at the host: the source keeps this one. */
export class NoRoom extends Error {}

/**
 * Returns a function that takes a message: its run and the cursor behind it are one transaction. It returns false when the trigger is active
 * no more, and rejects with `NoRoom`, or with a `HostError` `service_unavailable` when the message could not be stored.
 */
export function taker(options: StartOptions, source: ReadSource, triggerId: string, place: HeldPlace) {
  const { store, storeClock, random, limits } = options;
  // Messages that an earlier process stored may wait.
  let mayWait = true;

  return async ({ cursor, ...message }: PlacedMessage): Promise<boolean> => {
    const trigger = await store.triggers.read(triggerId);
    if (trigger?.source !== source || trigger.state !== 'active') return false;
    if (mayWait) await requireRoom();
    const next = cursor ?? place.cursor;
    const { isRepeated, message: stored } = await takeMessage(options, trigger, {
      ...message,
      deliveryId: mintId('dlv', storeClock.now, random),
      also: (transaction) => place.move(next, transaction),
    });
    if (stored.outcome === 'retrying') mayWait = true;
    if (!isRepeated) place.moved(next);
    else if (next !== place.cursor) await place.report(place.reading, next);
    return true;
  };

  async function requireRoom(): Promise<void> {
    const waiting = await store.triggers.countWaiting(triggerId, limits.maxWaiting);
    mayWait = waiting > 0;
    if (waiting >= limits.maxWaiting) throw new NoRoom(`${source}: too many messages of the trigger wait at the host`);
  }
}
