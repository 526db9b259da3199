import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Received } from './evidence.ts';

/**
 * The behaviour of a receiver: it accepts, responds 500, never responds, breaks the connection, or does any of these.
 */
export type Weather = 'fine' | 'failing' | 'hang' | 'cut' | 'mixed';

/** A message to a running receiver. */
export type ReceiverMessage = { readonly weather: Weather } | { readonly subscriptions: 'changed' };

/** The secret and the fixed status of each subscription, by its name. */
export type Secrets = Readonly<Record<string, { readonly secret: string; readonly answer?: number }>>;

/** The record that a receiver writes before it responds. */
export type Arrived = {
  /** The id of this request, unique to the receiver. */
  readonly id: string;
  readonly at: number;
  readonly name: string;
  readonly digest: string;
  readonly answer: Received['answer'];
} & (Pick<Received, 'webhookId' | 'runId' | 'sequence' | 'eventId' | 'type'> | { readonly refusal: string });

/** The record that a receiver writes after it has responded. */
export interface Answered {
  /** The id of the request. */
  readonly answered: string;
  readonly at: number;
}

/** The records of all receivers, which can be read while the receivers write. */
export interface Records {
  /** Reads the new records, and returns all of them. */
  read(): readonly Received[];
}

/** Opens the record files of the receivers. */
export function recordsIn(files: readonly string[]): Records {
  const tails = files.map(tailOf);
  const received = new Map<string, Received>();

  return {
    read() {
      for (const [file, tail] of tails.entries()) for (const line of tail()) take(`${file} `, parsed(line));
      return [...received.values()];
    },
  };

  function take(file: string, record: Arrived | Answered | undefined): void {
    if (record === undefined) return;
    if ('answered' in record) {
      const known = received.get(file + record.answered);
      if (known !== undefined) received.set(file + record.answered, { ...known, answeredAt: record.at });
      return;
    }
    const { id, at, name, digest, answer } = record;
    const delivery = 'refusal' in record ? NOTHING : record;
    const { tenant, bare } = partsOf(delivery.runId);
    const { webhookId, sequence, eventId, type } = delivery;
    const refusal = 'refusal' in record ? record.refusal : undefined;
    const which = { name, webhookId, runId: bare, tenant, sequence, eventId, type };
    received.set(file + id, { at, ...which, digest, refusal, answer, answeredAt: undefined });
  }
}

/** Parses a line. Returns undefined for half a line, whose receiver was killed before it responded. */
function parsed(line: string): Arrived | Answered | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const NOTHING = { webhookId: '', runId: '', sequence: -1, eventId: '', type: '' };

/** Splits an id into its tenant, which only ids of major 2 have, and the bare id. */
export function partsOf(id: string): { readonly tenant: string | undefined; readonly bare: string } {
  const at = id.lastIndexOf('/');
  return at === -1 ? { tenant: undefined, bare: id } : { tenant: id.slice(0, at), bare: id.slice(at + 1) };
}

/** Returns a function that reads the whole lines appended to a file since its last call. */
function tailOf(file: string): () => readonly string[] {
  let offset = 0;
  return () => {
    const descriptor = openSync(file, 'r');
    try {
      const buffer = Buffer.alloc(fstatSync(descriptor).size - offset);
      const size = readSync(descriptor, buffer, 0, buffer.length, offset);
      const whole = buffer.subarray(0, buffer.subarray(0, size).lastIndexOf(0x0a) + 1);
      offset += whole.length;
      return whole
        .toString('utf8')
        .split('\n')
        .filter((line) => line !== '');
    } finally {
      closeSync(descriptor);
    }
  };
}
