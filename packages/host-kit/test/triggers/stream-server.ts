import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An event of the server. */
export interface Sent {
  readonly id?: string;
  readonly type?: string;
  readonly data: string;
}

/** A server of streams on loopback, which keeps its events and sends them from the one after `Last-Event-ID`. */
export interface StreamServer {
  readonly port: number;
  /** The URL of a stream. */
  url(stream: string): string;
  /** Adds events to a stream, and sends them to those who read it. */
  emit(stream: string, ...events: readonly Sent[]): void;
  /** Sends a text to those who read a stream. It is not kept. */
  write(stream: string, text: string): void;
  /** Answers the requests for a stream by itself. */
  answer(stream: string, listener: (request: IncomingMessage, response: ServerResponse) => void): void;
  /** Ends the connections of a stream. */
  cut(stream: string): void;
  /** The requests for a stream, in order. */
  requests(stream: string): readonly IncomingMessage[];
  /** The number of open connections of a stream. */
  open(stream: string): number;
  close(): Promise<void>;
}

export async function streamServer(port = 0): Promise<StreamServer> {
  const kept = new Map<string, Sent[]>();
  const readers = new Map<string, Set<ServerResponse>>();
  const requested = new Map<string, IncomingMessage[]>();
  const answers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  const server = createServer((request, response) => {
    const [stream = ''] = (request.url ?? '').slice(1).split('?');
    of(requested, stream, () => []).push(request);
    const open = of(readers, stream, () => new Set());
    open.add(response);
    response.on('close', () => open.delete(response));
    const answer = answers.get(stream);
    if (answer !== undefined) return answer(request, response);
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.write(': welcome\n\n');
    const events = of(kept, stream, () => []);
    const last = request.headers['last-event-id'];
    for (const event of events.slice(events.findIndex(({ id }) => id === last && id !== undefined) + 1))
      response.write(textOf(event));
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const listening = (server.address() as AddressInfo).port;
  return {
    port: listening,
    url: (stream) => `http://127.0.0.1:${listening}/${stream}`,
    emit(stream, ...events) {
      of(kept, stream, () => []).push(...events);
      write(stream, events.map(textOf).join(''));
    },
    write,
    answer: (stream, listener) => void answers.set(stream, listener),
    cut(stream) {
      for (const response of readers.get(stream) ?? []) response.destroy();
    },
    requests: (stream) => requested.get(stream) ?? [],
    open: (stream) => readers.get(stream)?.size ?? 0,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  function write(stream: string, text: string): void {
    for (const response of readers.get(stream) ?? []) if (response.headersSent) response.write(text);
  }
}

function textOf({ id, type, data }: Sent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}${type === undefined ? '' : `event: ${type}\n`}data: ${data}\n\n`;
}

function of<V>(map: Map<string, V>, key: string, make: () => V): V {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}
