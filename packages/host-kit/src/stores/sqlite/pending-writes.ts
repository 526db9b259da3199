import type { Delivery } from '../../ports/deliveries.ts';
import type { EventColumns, JournalRow, MinuteColumns, MovingState } from './journal-rows.ts';

/** A delivery, and the row of the journal that has it. */
export interface JournalledDelivery {
  readonly delivery: Delivery;
  readonly row: number;
}

interface DeliveryRow {
  /** The number of its deliveries that are not settled. */
  left: number;
  /** The number of applications that it has stayed through. */
  readonly age: number;
}

/** The deliveries that may stay in the journal when it is applied. */
export interface MostKept {
  readonly applications: number;
  readonly deliveries: number;
  readonly bytes: number;
}

/** The content of the rows of the journal that are not in the tables yet: what the rows say together. */
export class PendingWrites {
  /** In the order of their positions. */
  readonly events: EventColumns[] = [];
  readonly moves = new Map<string, MovingState>();
  /** The deliveries that wait, by position. */
  readonly deliveries = new Map<number, JournalledDelivery>();
  /** The rows with deliveries, in their order. */
  readonly deliveryRows = new Map<number, DeliveryRow>();
  readonly minutes: MinuteColumns[] = [];
  /** The sequence of the last event by run. */
  readonly lastSequences = new Map<string, number>();
  /** The number of rows that the tables lack. */
  rows = 0;
  /**
   * The number of entries in the rows, by the work of their application: most deliveries are settled before, and counts
   * are added up. Without those that were kept.
   */
  entries = 0;
  /** About the length of the rows. */
  bytes = 0;

  /** Adds a row, and returns a function that undoes it. Undo in the reverse order of the additions. */
  add(id: number, row: JournalRow): () => void {
    const { rows, entries, bytes } = this;
    const undo = this.#added(id, row);
    this.rows += 1;
    return () => {
      undo();
      Object.assign(this, { rows, entries, bytes });
    };
  }

  /** Removes the state of a run, which is in its table, and returns a function that undoes it. */
  forgetMove(runId: string): () => void {
    const before = this.moves.get(runId);
    if (before === undefined) return () => {};
    this.moves.delete(runId);
    return () => void this.moves.set(runId, before);
  }

  /**
   * Returns what stays in the journal when it is applied: the newest deliveries, and of these the ones that have waited for
   * less than `most.applications` applications. They are claimed from memory, and most never need a row of their own.
   */
  kept(most: MostKept): PendingWrites {
    const kept = new PendingWrites();
    let [count, bytes] = [0, 0];
    const bytesOf = new Map<number, number>();
    for (const { delivery, row } of this.deliveries.values()) {
      bytesOf.set(row, (bytesOf.get(row) ?? 0) + delivery.body.length);
    }
    const staying: [number, DeliveryRow][] = [];
    for (const [id, { left, age }] of [...this.deliveryRows].toReversed()) {
      count += left;
      bytes += bytesOf.get(id) ?? 0;
      if (age >= most.applications || count > most.deliveries || bytes > most.bytes) break;
      if (left > 0) staying.push([id, { left, age: age + 1 }]);
    }
    for (const [id, row] of staying.toReversed()) kept.deliveryRows.set(id, row);
    for (const [position, journalled] of this.deliveries) {
      if (kept.deliveryRows.has(journalled.row)) kept.deliveries.set(position, journalled);
    }
    kept.rows = staying.length;
    return kept;
  }

  #added(id: number, row: JournalRow): () => void {
    switch (row.kind) {
      case 'events':
        return this.#addEvents(row.events);
      case 'moves':
        return this.#addMoves(row.moves);
      case 'deliveries':
        for (const { position, delivery } of row.deliveries) this.deliveries.set(position, { delivery, row: id });
        this.deliveryRows.set(id, { left: row.deliveries.length, age: 0 });
        this.entries += row.deliveries.length / 4;
        return () => {
          for (const { position } of row.deliveries) this.deliveries.delete(position);
          this.deliveryRows.delete(id);
        };
      case 'settled':
        return this.#settle(row.settled);
      case 'minutes': {
        const { length } = this.minutes;
        this.minutes.push(...row.minutes);
        this.entries += row.minutes.length / 8;
        return () => void this.minutes.splice(length);
      }
    }
  }

  #addEvents(events: readonly EventColumns[]): () => void {
    const { length } = this.events;
    const before = events.map(([runId]) => [runId, this.lastSequences.get(runId)] as const);
    for (const event of events) {
      this.events.push(event);
      this.lastSequences.set(event[0], event[1]);
      this.bytes += event[5].length;
    }
    this.entries += events.length;
    return () => {
      this.events.splice(length);
      for (const [runId, sequence] of before.toReversed()) restore(this.lastSequences, runId, sequence);
    };
  }

  #addMoves(moves: readonly (readonly [string, ...MovingState])[]): () => void {
    const before = moves.map(([runId]) => [runId, this.moves.get(runId)] as const);
    for (const [runId, ...state] of moves) this.moves.set(runId, state);
    return () => {
      for (const [runId, state] of before.toReversed()) restore(this.moves, runId, state);
    };
  }

  #settle(positions: readonly number[]): () => void {
    const removed: [number, JournalledDelivery][] = [];
    for (const position of positions) {
      const journalled = this.deliveries.get(position);
      if (journalled === undefined) continue;
      removed.push([position, journalled]);
      this.deliveries.delete(position);
      this.#countLeft(journalled.row, -1);
    }
    return () => {
      for (const [position, journalled] of removed) {
        this.deliveries.set(position, journalled);
        this.#countLeft(journalled.row, 1);
      }
    };
  }

  #countLeft(id: number, by: 1 | -1): void {
    const row = this.deliveryRows.get(id);
    if (row !== undefined) row.left += by;
  }
}

function restore<V>(map: Map<string, V>, key: string, before: V | undefined): void {
  if (before === undefined) map.delete(key);
  else map.set(key, before);
}
