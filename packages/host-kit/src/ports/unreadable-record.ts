/** The records of which one that cannot be read is passed over, so that it does not keep the others from being read. */
export type UnreadableKind = 'run' | 'subscription' | 'api-key';

const NAMES: Readonly<Record<UnreadableKind, string>> = {
  run: 'run',
  subscription: 'subscription',
  'api-key': 'API key',
};

/**
 * A stored record that cannot be read. The message has none of its content.
 *
 * @example
 * import { UnreadableRecord } from '@svc/host-kit/ports';
 *
 * const { message } = new UnreadableRecord('subscription', 'whk_1', 'its JSON cannot be parsed');
 * console.log(message); // Stored subscription whk_1: its JSON cannot be parsed. Restore the record from a backup.
 */
export class UnreadableRecord extends Error {
  /** The kind of the record. */
  readonly kind: UnreadableKind;
  /** The id of the record. */
  readonly id: string;

  /** @param problem what is wrong with the record, without its content */
  constructor(kind: UnreadableKind, id: string, problem: string) {
    super(`Stored ${NAMES[kind]} ${id}: ${problem}. Restore the record from a backup.`);
    this.name = 'UnreadableRecord';
    this.kind = kind;
    this.id = id;
  }
}

/** Tells of the records that a store passed over. */
export interface UnreadableRecords {
  /** Calls `listener` once with each record: those that were passed over before, and those that will be. It must not throw. */
  follow(listener: (record: UnreadableRecord) => void): void;
}
