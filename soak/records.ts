import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Received } from './evidence.ts';

/** How a receiver answers: as it should, with 500, never, by breaking the connection off, or any of these and more. */
export type Weather = 'fine' | 'failing' | 'hang' | 'cut' | 'mixed';

/** What a receiver is told while it runs. */
export type Told = { readonly weather: Weather } | { readonly subscriptions: 'changed' };

/** By the name of a subscription. */
export type Secrets = Readonly<Record<string, { readonly secret: string; readonly answer?: number }>>;

/** A line that a receiver writes before it answers. */
export type Arrived = {
  /** Of this request. */
  readonly id: string;
  readonly at: number;
  readonly name: string;
  readonly digest: string;
  readonly answer: Received['answer'];
} & (Pick<Received, 'webhookId' | 'runId' | 'sequence' | 'eventId' | 'type'> | { readonly refusal: string });

/** A line that it writes once the answer is out. */
export interface Answered {
  readonly answered: string;
  readonly at: number;
}

/** What receivers wrote down, read on as they go on writing. */
export interface Records {
  /** Reads what is new, and returns all that there is. */
  read(): readonly Received[];
}

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

/** Undefined: half a line, whose receiver was killed before it answered. */
function parsed(line: string): Arrived | Answered | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const NOTHING = { webhookId: '', runId: '', sequence: -1, eventId: '', type: '' };

/** In major 2 an id is bound to its tenant. */
export function partsOf(id: string): { readonly tenant: string | undefined; readonly bare: string } {
  const at = id.lastIndexOf('/');
  return at === -1 ? { tenant: undefined, bare: id } : { tenant: id.slice(0, at), bare: id.slice(at + 1) };
}

/** The whole lines that have been appended to a file since the last call. */
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
