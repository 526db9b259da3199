import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type ReceiverOptions, UsageError } from '../options.ts';
import { sleep } from '../sleep.ts';

/** HTTP server for the deliveries of the host under test, with one inbox for each subscription. */
export interface Receiver {
  /** Opens an inbox under a new path. It answers 200 unless `answers` says otherwise. */
  inbox(answers?: readonly Scripted[]): Inbox;
  /** Stops listening and closes open connections. */
  close(): Promise<void>;
}

/** Endpoint of one subscription. It records each request and gives scripted responses. */
export interface Inbox {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  /** Sets the next responses, in order. The last one is repeated. */
  answer(...answers: readonly Scripted[]): void;
  /** Waits until `holds` is true of the arrivals. Returns false when it is not within `withinMs`. */
  until(holds: (arrivals: readonly Arrival[]) => boolean, withinMs: number, signal: AbortSignal): Promise<boolean>;
}

/** A scripted response: a status, no response at all, or a whole response. */
export type Scripted = number | 'hang' | ScriptedAnswer | ((arrival: Arrival) => ScriptedAnswer);

/** A scripted response with headers and a body. */
export interface ScriptedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request that the receiver got. */
export interface Arrival {
  /** Time of arrival, in ms since the epoch. It is compared with signed times alone. */
  readonly at: number;
  /** Time of arrival by `performance.now()`, in ms. Distances are measured by it, as no step of the clock changes them. */
  readonly monotonicMs: number;
  readonly method: string;
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: Buffer;
  /** Time until the host closed the connection before a response, in ms. */
  abandonedAfterMs: number | undefined;
}

/** @throws {UsageError} when the address cannot be listened on */
export async function startReceiver({ host = '127.0.0.1', port = 0, url }: ReceiverOptions = {}): Promise<Receiver> {
  const inboxes = new Map<string, Held>();
  const server = createServer((request, response) => {
    void receive(request, response, inboxes.get(pathOf(request))).catch(() => response.destroy());
  });
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
    throw new UsageError(
      `receiver: cannot listen on port ${port} of ${host} (${why}). Pass another --receiver-port or --receiver-host.`,
    );
  }
  const base = (url ?? `http://${host.includes(':') ? `[${host}]` : host}:${portOf(server)}`).replace(/\/$/, '');
  const prefix = new URL(base).pathname.replace(/\/$/, '');

  return {
    inbox(answers = [200]) {
      const path = `/${randomBytes(12).toString('hex')}`;
      const held = heldInbox(base + path, answers);
      // A proxy in front of the receiver may keep the path prefix of `url`, or remove it.
      inboxes.set(prefix + path, held).set(path, held);
      return held;
    },
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Held extends Inbox {
  take(arrival: Arrival): Scripted;
}

function heldInbox(url: string, first: readonly Scripted[]): Held {
  const arrivals: Arrival[] = [];
  let answers = [...first];
  return {
    url,
    arrivals,
    answer(...next) {
      answers = [...next];
    },
    take(arrival) {
      if (arrivals.length < MOST_ARRIVALS) arrivals.push(arrival);
      return (answers.length > 1 ? answers.shift() : answers[0]) ?? 200;
    },
    async until(holds, withinMs, signal) {
      const end = performance.now() + withinMs;
      while (!holds(arrivals)) {
        if (performance.now() >= end) return false;
        await sleep(LOOK_MS, signal);
      }
      return true;
    },
  };
}

const LOOK_MS = 20;
const MOST_ARRIVALS = 1000;
const MAX_BODY_BYTES = 4 * 1024 * 1024;

async function receive(request: IncomingMessage, response: ServerResponse, inbox: Held | undefined): Promise<void> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return void response.destroy();
    chunks.push(chunk);
  }
  if (inbox === undefined) return void response.writeHead(404).end();
  const began = performance.now();
  const arrival: Arrival = {
    at: Date.now(),
    monotonicMs: began,
    method: request.method ?? '',
    headers: new Map(Object.entries(request.headersDistinct).map(([name, values]) => [name, values ?? []])),
    body: Buffer.concat(chunks),
    abandonedAfterMs: undefined,
  };
  response.once('close', () => {
    if (!response.writableFinished) arrival.abandonedAfterMs = Math.round(performance.now() - began);
  });
  const scripted = inbox.take(arrival);
  if (scripted === 'hang') return;
  const { status, headers, body } = answerOf(scripted, arrival);
  response.writeHead(status, headers).end(body);
}

function answerOf(scripted: Exclude<Scripted, 'hang'>, arrival: Arrival): ScriptedAnswer {
  if (typeof scripted === 'number') return { status: scripted };
  return typeof scripted === 'function' ? scripted(arrival) : scripted;
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? url;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
