/** The records of which one that cannot be read is passed over, so that it does not keep the others from being read. */
export type UnreadableKind = 'subscription' | 'api-key';

const NAMES: Readonly<Record<UnreadableKind, string>> = { subscription: 'subscription', 'api-key': 'API key' };

/** A stored record that cannot be read. The message has none of its content. */
export class UnreadableRecord extends Error {
  readonly kind: UnreadableKind;
  readonly id: string;

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
