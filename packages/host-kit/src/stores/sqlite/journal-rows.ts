import type { Delivery } from '../../ports/deliveries.ts';
import { bytes, integer, optional, type Row, text } from '../sql/row.ts';

/** An event, as the columns of its row. */
export type EventColumns = readonly [
  runId: string,
  sequence: number,
  eventId: string,
  type: string,
  timestamp: number,
  payload: string,
  schemaVersion: number,
  engineVersion: number,
  nodeId: string | null,
  causationId: string | null,
  position: number,
];

/** The part of a run's state that most events change, in the order of `MOVING_COLUMNS`. */
export type MovingState = readonly [
  lastSequence: number,
  openNodes: string | null,
  currentNodeId: string | null,
  usage: string | null,
];

/** A delivery that waits, and the primary key of its row. */
export interface PositionedDelivery {
  readonly position: number;
  readonly delivery: Delivery;
}

/** Counts of a subscription in a minute: the values of `COUNTS`. */
export type MinuteColumns = readonly [minute: number, webhookId: string, ...counts: number[]];

/** The content of one row of the journal. */
export type JournalRow =
  | { readonly kind: 'events'; readonly events: readonly EventColumns[] }
  | { readonly kind: 'moves'; readonly moves: readonly (readonly [runId: string, ...MovingState])[] }
  | { readonly kind: 'deliveries'; readonly deliveries: readonly PositionedDelivery[] }
  /** The positions of deliveries of the journal that are to be in no table. */
  | { readonly kind: 'settled'; readonly settled: readonly number[] }
  | { readonly kind: 'minutes'; readonly minutes: readonly MinuteColumns[] };

/** The columns of a row of the journal. */
export interface JournalColumns {
  readonly kind: JournalRow['kind'];
  readonly entries: string;
  readonly bodies: Uint8Array | null;
}

/** A delivery in `entries`. Deliveries of one event have one body, which is stored once. */
type DeliveryColumns = readonly [
  position: number,
  deliveryId: string,
  webhookId: string,
  runId: string,
  eventId: string,
  sequence: number,
  eventType: string,
  attempts: number,
  dueAt: number,
  bodyFrom: number,
  bodyTo: number,
];

/** Returns the columns of a row of the journal. */
export function journalColumns(row: JournalRow): JournalColumns {
  switch (row.kind) {
    case 'events':
      return { kind: row.kind, entries: JSON.stringify(row.events), bodies: null };
    case 'moves':
      return { kind: row.kind, entries: JSON.stringify(row.moves), bodies: null };
    case 'deliveries':
      return { kind: row.kind, ...deliveriesAsColumns(row.deliveries) };
    case 'settled':
      return { kind: row.kind, entries: JSON.stringify(row.settled), bodies: null };
    case 'minutes':
      return { kind: row.kind, entries: JSON.stringify(row.minutes), bodies: null };
  }
}

/**
 * Reads a row of the journal.
 *
 * @throws {Error} when a newer version of the kit wrote it
 */
export function journalRowOf(row: Row): JournalRow {
  const kind = text(row, 'kind');
  const entries = text(row, 'entries');
  switch (kind) {
    case 'events':
      return { kind, events: JSON.parse(entries) };
    case 'moves':
      return { kind, moves: JSON.parse(entries) };
    case 'deliveries':
      return { kind, deliveries: deliveriesOf(JSON.parse(entries), optional(row, 'bodies', bytes) ?? NO_BODIES) };
    case 'settled':
      return { kind, settled: JSON.parse(entries) };
    case 'minutes':
      return { kind, minutes: JSON.parse(entries) };
    default:
      throw new Error(`write_journal: row ${integer(row, 'id')} has the unknown kind ${kind}. Use a newer kit.`);
  }
}

const NO_BODIES = new Uint8Array();

function deliveriesAsColumns(deliveries: readonly PositionedDelivery[]): Pick<JournalColumns, 'entries' | 'bodies'> {
  const places = new Map<Uint8Array, number>();
  const bodies: Uint8Array[] = [];
  let length = 0;
  const entries = deliveries.map(({ position, delivery }): DeliveryColumns => {
    const { deliveryId, webhookId, runId, eventId, sequence, eventType, attempts, dueAt, body } = delivery;
    let from = places.get(body);
    if (from === undefined) {
      from = length;
      places.set(body, from);
      bodies.push(body);
      length += body.length;
    }
    const [which, to] = [[position, deliveryId, webhookId, runId, eventId, sequence] as const, from + body.length];
    return [...which, eventType, attempts, dueAt, from, to];
  });
  return { entries: JSON.stringify(entries), bodies: Buffer.concat(bodies, length) };
}

function deliveriesOf(entries: readonly DeliveryColumns[], bodies: Uint8Array): readonly PositionedDelivery[] {
  return entries.map((columns) => {
    const [position, deliveryId, webhookId, runId, eventId, sequence, eventType, attempts, dueAt, from, to] = columns;
    const which = { deliveryId, webhookId, runId, eventId, sequence, eventType };
    return { position, delivery: { ...which, body: bodies.slice(from, to), attempts, dueAt } };
  });
}
